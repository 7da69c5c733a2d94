/** SQL that reads what decides whether a user may enter a room. */
import type { Db } from '../../base/db/pool.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { bansOf } from '../moderation/bans.sql.ts';
import type { RoomPolicy, RoomState } from '../rooms/room.ts';

/** Whether a ban covers the user, the device or the address, in this room or in all. */
const IS_BANNED = bansOf({
  tenant: 't.id',
  roomUid: 'r.uid',
  username: '$3',
  thumbprint: '$4',
  address: '$5',
});

/** Everything that decides whether a user may enter, as of one instant. */
export interface EntryState {
  readonly status: TenantStatus;
  readonly exempt: boolean;
  /** As an operator changed them. */
  readonly limits: LimitOverrides | null;
  readonly balance: bigint;
  /** Of the tenant, for the token. */
  readonly rangeSalt: string;
  /** The live room of that name, otherwise the one that ended last; `null`: there is none. */
  readonly roomUid: string | null;
  readonly roomState: RoomState | null;
  readonly policy: RoomPolicy | null;
  /** Whether the user is in the room already. */
  readonly isPresent: boolean;
  /** Whether this device has a valid token for this user. */
  readonly isAdmitted: boolean;
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

/**
 * The plan of this statement is kept, perhaps from when the tables were empty. Each `where` has only
 * conditions that lead to one row by primary key; otherwise the planner may pick another index.
 */
export async function findEntryState(db: Db, entrant: Entrant): Promise<EntryState> {
  const { rows } = await db.query<EntryState>({
    name: 'find-entry-state',
    text: `select t.status, t.exempt, t.limits, a.balance, t.range_salt as "rangeSalt", r.uid as "roomUid", r.state as "roomState", r.policy,
                  coalesce((select p.left_at is null and p.expires_at > now() from participants p
                             where p.tenant_id = t.id and p.room_uid = r.uid and p.username = $3), false)
                    as "isPresent",
                  coalesce(d.admits, false) as "isAdmitted", d.rank as "highestRank",
                  ${IS_BANNED} as "isBanned"
             from tenants t
             join accounts a on a.tenant_id = t.id
             left join lateral (select uid, state, policy from rooms
                                 where tenant_id = t.id and name = $2
                                 order by incarnation desc limit 1) r on true
             left join lateral (select bool_or(device = $4 and expires_at > now()) as admits,
                                       max(rank) filter (where expires_at > now()) as rank from admissions
                                 where tenant_id = t.id and room_uid = r.uid and username = $3) d on true
            where t.id = $1`,
    values: [entrant.tenant, entrant.room, entrant.username, entrant.thumbprint, entrant.address],
  });
  return rows[0]!;
}
