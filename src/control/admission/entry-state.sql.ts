/** SQL that reads what decides whether a user may enter a room. */
import type { Db } from '../../base/db/pool.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { bansOf } from '../bans/bans.sql.ts';
import { PRESENT } from '../rooms/participants.sql.ts';
import type { RoomPolicy, RoomState } from '../rooms/room.ts';

/** Whether a ban covers the user, the device or the address, in rooms of this name or in all. */
const IS_BANNED = `g.username is not null and ${bansOf({
  tenant: 'g.tenant_id',
  room: 'g.room',
  username: 'g.username',
  thumbprint: 'g.device',
  address: 'g.address',
})}`;

/** Everything that decides whether a user may enter, as of one instant. */
export interface EntryState {
  readonly status: TenantStatus;
  readonly exempt: boolean;
  /** As an operator changed them. */
  readonly limits: LimitOverrides | null;
  /** Whether tokens have to take holds. */
  readonly hasBudgets: boolean;
  readonly balance: bigint;
  /** The tenant's salt for hashed ranges of addresses, for the token. */
  readonly rangeSalt: string;
  /** The live room of that name, otherwise the one that ended last; `null`: there is none. */
  readonly roomUid: string | null;
  readonly roomState: RoomState | null;
  readonly policy: RoomPolicy | null;
  /** Whether the user is in the room already. */
  readonly isPresent: boolean;
  /** Whether no user of that name has ever been in the room. */
  readonly isNew: boolean;
  /** Whether this device has a valid token for this user. */
  readonly isAdmitted: boolean;
  /** How many devices of the user are kept, with those whose token expired in the last day. */
  readonly devices: number;
  /** The highest rank among the user's valid tokens for the room; `null`: there is none. */
  readonly highestRank: number | null;
  readonly isBanned: boolean;
}

/** A user who asks to enter. */
export interface Entrant {
  readonly tenant: TenantId;
  readonly room: string;
  readonly username: string;
  readonly thumbprint: string;
  /** The device's address, if known. */
  readonly address: string | undefined;
}

/** The columns of an `EntryState`, from `tenants t` and `ENTRY_STATE_JOINS`. */
export const ENTRY_STATE = `t.status, t.exempt, t.limits, t.has_budgets and not t.exempt as "hasBudgets", c.balance, t.range_salt as "rangeSalt",
      r.uid as "roomUid", r.state as "roomState", r.policy,
      coalesce(p.present, false) as "isPresent", p.present is null as "isNew",
      coalesce(d.admits, false) as "isAdmitted", d.devices, d.rank as "highestRank",
      ${IS_BANNED} as "isBanned"`;
/** What decides about `tenant_id`, `room`, `username`, `device` and `address` of `g`. Each `where` leads to one row by primary key. */
export const ENTRY_STATE_JOINS = `join accounts c on c.tenant_id = g.tenant_id
    left join lateral (select uid, state, policy from rooms
                     where tenant_id = g.tenant_id and name = g.room
                     order by incarnation desc limit 1) r on true
    left join lateral (select ${PRESENT} as present from participants p
                     where p.tenant_id = g.tenant_id and p.room_uid = r.uid and p.username = g.username) p on true
    left join lateral (select bool_or(a.device = g.device and a.expires_at > now()) as admits,
                           count(*)::integer as devices, max(a.rank) filter (where a.expires_at > now()) as rank
                      from admissions a
                     where a.tenant_id = g.tenant_id and a.room_uid = r.uid
                       and a.username = g.username) d on true`;
const STATES = `select ${ENTRY_STATE}
    from json_to_recordset($1) as g (at integer, tenant_id bigint, room text, username text, device text,
                                  address inet)
    join tenants t on t.id = g.tenant_id
    ${ENTRY_STATE_JOINS}
   order by g.at`;
/** Citus passes no column on into a subquery as the tenant that it looks for. */
const STATES_OF_TENANT = STATES.replaceAll('g.tenant_id', '$2::bigint');

/** The states of several entrants, in their order. */
export async function findEntryStates(db: Db, entrants: readonly Entrant[]): Promise<EntryState[]> {
  const { rows } = await db.query<EntryState>({
    name: 'find-entry-states',
    text: STATES,
    values: [asked(entrants)],
  });
  return rows;
}

/** The same for entrants of one tenant, by a statement that names it: where tables are distributed. */
export async function findEntryStatesOfTenant(
  db: Db,
  entrants: readonly Entrant[],
): Promise<readonly EntryState[]> {
  const { rows } = await db.query<EntryState>({
    name: 'find-entry-states-of-tenant',
    text: STATES_OF_TENANT,
    values: [asked(entrants), entrants[0]!.tenant],
  });
  return rows;
}

function asked(entrants: readonly Entrant[]): string {
  return JSON.stringify(
    entrants.map(({ tenant, room, username, thumbprint, address }, at) => ({
      at,
      tenant_id: String(tenant),
      room,
      username,
      device: thumbprint,
      address,
    })),
  );
}
