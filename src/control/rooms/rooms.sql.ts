/** SQL of `rooms`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import {
  DEFAULT_POLICY,
  type EndReason,
  type LockedRoom,
  type Room,
  type RoomPolicy,
  type RoomState,
} from './room.ts';

/** The columns of a `LockedRoom`, of `rooms r`. */
const LOCKED_ROOM = `r.name, r.uid, r.state, r.policy, r.created_at as "createdAt", r.ended_at as "endedAt",
  r.end_reason as "endReason", r.metadata`;

/** The columns of a `Room`, of `rooms r`. */
export const ROOM = `${LOCKED_ROOM},
  (select count(*)::integer from participants p
    where p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.left_at is null and p.expires_at > now())
    as "participantCount"`;

/** Everything that lets somebody in or keeps him out, as it is at one instant. */
export interface EntryState {
  readonly status: TenantStatus;
  readonly exempt: boolean;
  readonly balance: bigint;
  /** The live room of that name, or else the one that ended last, or else none. */
  readonly roomUid: string | null;
  readonly roomState: RoomState | null;
  readonly policy: RoomPolicy | null;
  /** Whether the user is in the room already. */
  readonly isPresent: boolean;
  /** Whether this device is: its token, for this user, has not lapsed. */
  readonly isAdmitted: boolean;
  readonly isBanned: boolean;
}

/** Who wants to come in. */
export interface Entrant {
  readonly tenant: TenantId;
  readonly room: string;
  readonly username: string;
  readonly device: string;
  /** The device's address, where it is known. */
  readonly address: string | undefined;
}

/**
 * The plan of this statement is kept, and may be from when the tables were empty: only what leads to
 * one row by a primary key stands in a `where`, lest another index looked as good then.
 */
export async function findEntryState(db: Db, entrant: Entrant): Promise<EntryState> {
  const { rows } = await db.query<EntryState>({
    name: 'find-entry-state',
    text: `select t.status, t.exempt, a.balance, r.uid as "roomUid", r.state as "roomState", r.policy,
                  coalesce((select p.left_at is null and p.expires_at > now() from participants p
                             where p.tenant_id = t.id and p.room_uid = r.uid and p.username = $3), false)
                    as "isPresent",
                  coalesce((select bool_or(d.device = $4 and d.expires_at > now()) from admissions d
                             where d.tenant_id = t.id and d.room_uid = r.uid and d.username = $3), false)
                    as "isAdmitted",
                  exists (select from bans b
                           where b.tenant_id = t.id and b.lifted_at is null
                             and (b.expires_at is null or b.expires_at > now())
                             and (b.room_uid is null or b.room_uid = r.uid)
                             and (b.kind = 'user' and b.value = $3 or b.kind = 'device' and b.value = $4
                                  or b.kind = 'cidr' and b.network >>= $5::inet)) as "isBanned"
             from tenants t
             join accounts a on a.tenant_id = t.id
             left join lateral (select uid, state, policy from rooms
                                 where tenant_id = t.id and name = $2
                                 order by incarnation desc limit 1) r on true
            where t.id = $1`,
    values: [entrant.tenant, entrant.room, entrant.username, entrant.device, entrant.address],
  });
  return rows[0]!;
}

/**
 * Open the first room of this name. Returns its uid, or that of the live room which somebody else
 * has opened meanwhile; `undefined` when that one has even ended already.
 */
export async function openFirstRoom(db: Db, tenant: TenantId, name: string): Promise<string | undefined> {
  const opened = await db.query<{ uid: string }>(
    `with r as (
       insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, $3, 1, $4)
       on conflict do nothing returning *
     ), told as (
       insert into unnumbered_events (tenant_id, type, room_uid, subject)
       select $1, 'room_created', r.uid, (select to_jsonb(v) from (select ${ROOM}) v) from r
     )
     select uid from r`,
    [tenant, newId('rm'), name, DEFAULT_POLICY],
  );
  if (opened.rows[0]) return opened.rows[0].uid;
  const { rows } = await db.query<{ uid: string }>(
    `select uid from rooms where tenant_id = $1 and name = $2 and state = 'LIVE'`,
    [tenant, name],
  );
  return rows[0]?.uid;
}

/** Until the transaction ends, nobody else who asks for this lock decides about the room, and nobody comes in. */
export async function lockRoom(tx: Tx, tenant: TenantId, uid: string): Promise<void> {
  await tx.query('select from rooms where tenant_id = $1 and uid = $2 for no key update', [tenant, uid]);
}

/** As `lockRoom()`, several in one order, so that no two who lock some wait for each other. */
export async function lockRooms(tx: Tx, tenant: TenantId, uids: readonly string[]): Promise<void> {
  await tx.query('select from rooms where tenant_id = $1 and uid = any($2) order by uid for no key update', [
    tenant,
    uids,
  ]);
}

/**
 * The live room of this name, or else the one that ended last; locked against everybody who would
 * change it or come in.
 */
export async function lockRoomByName(
  tx: Tx,
  tenant: TenantId,
  name: string,
): Promise<LockedRoom | undefined> {
  const { rows } = await tx.query<LockedRoom>(
    `select ${LOCKED_ROOM} from rooms r where r.tenant_id = $1 and r.name = $2
      order by r.incarnation desc limit 1 for no key update of r`,
    [tenant, name],
  );
  return rows[0];
}

/** The room with this uid; without a uid, as `lockRoomByName()`, but not locked. */
export async function findRoom(
  db: Db,
  tenant: TenantId,
  { name, uid }: { name?: string | undefined; uid?: string | undefined },
): Promise<Room | undefined> {
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1 and ($2::text is null or r.name = $2) and ($3::text is null or r.uid = $3)
      order by r.incarnation desc limit 1`,
    [tenant, name, uid],
  );
  return rows[0];
}

export interface RoomFilter {
  readonly state: RoomState | undefined;
  readonly namePrefix: string | undefined;
  readonly createdFrom: Date | undefined;
  readonly createdBefore: Date | undefined;
}

/** Rooms, the newest first, after the one with uid `after`. */
export async function selectRooms(
  db: Db,
  tenant: TenantId,
  filter: RoomFilter & { readonly after: string | undefined; readonly limit: number },
): Promise<Room[]> {
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1
        and ($2::text is null or r.state = $2)
        and ($3::text is null or starts_with(r.name, $3))
        and ($4::timestamptz is null or r.created_at >= $4)
        and ($5::timestamptz is null or r.created_at < $5)
        and ($6::text is null
             or (r.created_at, r.uid) < (select created_at, uid from rooms where tenant_id = $1 and uid = $6))
      order by r.created_at desc, r.uid desc limit $7`,
    [
      tenant,
      filter.state,
      filter.namePrefix,
      filter.createdFrom,
      filter.createdBefore,
      filter.after,
      filter.limit,
    ],
  );
  return rows;
}

/** Live rooms by name, after the one of name `after`; with `room`, only the one of that name. */
export async function selectLiveRooms(
  db: Db,
  tenant: TenantId,
  options: { readonly room: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Room[]> {
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1 and r.state = 'LIVE'
        and ($2::text is null or r.name = $2) and ($3::text is null or r.name > $3)
      order by r.name limit $4`,
    [tenant, options.room, options.after, options.limit],
  );
  return rows;
}

/** Create a room; `undefined` while a live one has the name. */
export async function insertRoom(
  tx: Tx,
  tenant: TenantId,
  room: Pick<Room, 'name' | 'policy' | 'metadata'>,
): Promise<Room | undefined> {
  const { rows } = await tx.query<Room>(
    `insert into rooms as r (tenant_id, uid, name, incarnation, policy, metadata)
     select $1, $2, $3, coalesce((select max(incarnation) from rooms where tenant_id = $1 and name = $3), 0) + 1,
            $4, $5
     on conflict do nothing returning ${ROOM}`,
    [tenant, newId('rm'), room.name, room.policy, room.metadata],
  );
  return rows[0];
}

export async function updatePolicy(tx: Tx, tenant: TenantId, uid: string, policy: RoomPolicy): Promise<Room> {
  const { rows } = await tx.query<Room>(
    `update rooms r set policy = $3 where r.tenant_id = $1 and r.uid = $2 returning ${ROOM}`,
    [tenant, uid, policy],
  );
  return rows[0]!;
}

export async function markEnded(tx: Tx, tenant: TenantId, uid: string, reason: EndReason): Promise<Room> {
  const { rows } = await tx.query<Room>(
    `update rooms r set state = 'ENDED', ended_at = clock_timestamp(), end_reason = $3
      where r.tenant_id = $1 and r.uid = $2 returning ${ROOM}`,
    [tenant, uid, reason],
  );
  return rows[0]!;
}
