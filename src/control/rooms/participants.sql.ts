/** SQL of `participants` and their devices. Uses database time. */

import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ActorName, ExpelReason, Participant } from './participant.ts';
import type { RoleCount, RoomReference } from './room.ts';

/**
 * The columns of a `Participant`, from `participants p` and `rooms r`. A participant whose last token expired
 * counts as left, even before a sweep updates the row.
 */
export const PARTICIPANT = `r.name as room, p.room_uid as "roomUid", p.username, p.role, p.rank, p.capabilities,
  p.muted, p.publish_revoked as "publishRevoked", p.tier, p.entered_at as "enteredAt",
  p.last_seen_at as "lastSeenAt", p.expires_at as "expiresAt",
  coalesce(p.left_at, case when p.expires_at <= now() then p.expires_at end) as "leftAt",
  coalesce(p.leave_reason, case when p.expires_at <= now() then 'expired' end) as "leaveReason"`;

/** Whether `participants p` is in the room. */
export const PRESENT = 'p.left_at is null and p.expires_at > now()';

/**
 * The devices of `participants p` of the tenant `$1` with valid tokens, as JSON. The time condition is outside the `where`;
 * otherwise the planner may pick an index by time instead of the primary key.
 */
const DEVICES = `coalesce((select json_agg(json_build_object('thumbprint', a.device, 'keyId', a.key_id,
    'customer', a.customer, 'expiresAt', a.expires_at) order by a.device) filter (where a.expires_at > now())
    from admissions a
   where a.tenant_id = $1 and a.room_uid = p.room_uid and a.username = p.username), '[]') as devices`;

/** A participant with devices, read from `participants p` and `rooms r` of the tenant `$1`. */
export const WHOLE_PARTICIPANT = `${PARTICIPANT}, ${DEVICES}`;

/** For `participants p` of the tenant `$1`, or what returns its columns as `p`. */
export const ROOM_OF_PARTICIPANT = 'join rooms r on r.tenant_id = $1 and r.uid = p.room_uid';

const WITH_ROOM = `participants p ${ROOM_OF_PARTICIPANT}`;

/** Restores the dates in a row of `WHOLE_PARTICIPANT`, because JSON has none. */
export function reviveParticipant(row: Participant): Participant {
  return { ...row, devices: row.devices.map((each) => ({ ...each, expiresAt: new Date(each.expiresAt) })) };
}

/**
 * Whether `admissions a` is of the tenant and the device, by the index `admissions_by_device`. The expression makes that index
 * useless to statements that name no device.
 */
export function isOfDevice(tenant: string, device: string): string {
  return `a.tenant_id = ${tenant} and a.device = ${device} and a.tenant_id + 0 = ${tenant}`;
}

export async function findParticipant(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  username: string,
): Promise<Participant | undefined> {
  const { rows } = await db.query<Participant>({
    name: 'find-participant',
    text: `select ${WHOLE_PARTICIPANT} from ${WITH_ROOM}
            where p.tenant_id = $1 and p.room_uid = $2 and p.username = $3`,
    values: [tenant, roomUid, username],
  });
  return rows.map(reviveParticipant)[0];
}

export interface Roster {
  readonly roomUid: string;
  readonly participants: readonly Participant[];
}

/**
 * Participants of a room by name, present ones or all, without those hidden from `actor`; `undefined` if there
 * is no such room. Of rooms that share a name: the live one, otherwise the one that ended last.
 */
export async function findRoster(
  db: Db,
  tenant: TenantId,
  room: RoomReference,
  options: {
    readonly actor: Pick<ActorName, 'username'> | undefined;
    readonly includeLeft: boolean;
    /** Only usernames after this one. */
    readonly after: string | undefined;
    /** Only usernames, which are in lower case, that contain this. */
    readonly containing?: string | undefined;
    readonly limit: number;
  },
): Promise<Roster | undefined> {
  const { actor, includeLeft, after, containing, limit } = options;
  const [by, key] = room.uid === undefined ? ['name', room.name] : ['uid', room.uid];
  const { name, where, values } = filtered(`find-roster-by-${by}`, [tenant, key, limit], {
    present: !includeLeft && [PRESENT],
    after: after && ['p.username > ?', after],
    containing: containing && ['strpos(p.username, lower(?)) > 0', containing],
    visible: actor && [`(p.username = ? or not p.capabilities @> '{room.hidden}')`, actor.username],
  });
  type Row = { ofRoom: string; nameOfRoom: string } & (Participant | { username: null });
  const { rows } = await db.query<Row>({
    name,
    text: `select r.uid as "ofRoom", r.name as "nameOfRoom", p.*
             from (select tenant_id, uid, name from rooms where tenant_id = $1 and ${by} = $2
                    order by incarnation desc limit 1) r
             left join lateral (select ${WHOLE_PARTICIPANT} from participants p
                                 where p.tenant_id = $1 and p.room_uid = r.uid ${where}
                                 order by p.username limit $3) p on true
            order by p.username`,
    values,
  });
  const [first] = rows;
  if (!first || (room.name !== undefined && room.name !== first.nameOfRoom)) return undefined;
  const participants = rows.flatMap(({ ofRoom, nameOfRoom, ...row }) =>
    row.username === null ? [] : [reviveParticipant(row)],
  );
  return { roomUid: first.ofRoom, participants };
}

/** How many participants with each role are present in the room. */
export async function countRoles(db: Db, tenant: TenantId, roomUid: string): Promise<RoleCount[]> {
  const { rows } = await db.query<RoleCount>({
    name: 'count-roles',
    text: `select p.role, count(*) from participants p
            where p.tenant_id = $1 and p.room_uid = $2 and ${PRESENT} group by p.role order by p.role`,
    values: [tenant, roomUid],
  });
  return rows;
}

/**
 * Participants present in live rooms, by room and name, after `after`; with `room`, only in the room of this
 * name.
 */
export async function findPresentParticipants(
  db: Db,
  tenant: TenantId,
  options: {
    readonly room: string | undefined;
    readonly after: Pick<Participant, 'roomUid' | 'username'> | undefined;
    readonly limit: number;
  },
): Promise<Participant[]> {
  const { room, after, limit } = options;
  const { name, where, values } = filtered('find-present-participants', [tenant, limit], {
    room: room && ['r.name = ?', room],
    after: after && ['(p.room_uid, p.username) > (?, ?)', after.roomUid, after.username],
  });
  const { rows } = await db.query<Participant>({
    name,
    text: `select ${WHOLE_PARTICIPANT} from ${WITH_ROOM}
            where p.tenant_id = $1 and ${PRESENT} and r.state = 'LIVE' ${where}
            order by p.room_uid, p.username limit $2`,
    values,
  });
  return rows.map(reviveParticipant);
}

/** Rank and capabilities from the valid token of this device. */
export async function findActor(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  actor: ActorName,
): Promise<Pick<Participant, 'rank' | 'capabilities'> | undefined> {
  const { rows } = await db.query<Pick<Participant, 'rank' | 'capabilities'>>({
    name: 'find-actor',
    text: `select a.rank, a.capabilities
             from participants p join admissions a using (tenant_id, room_uid, username)
            where p.tenant_id = $1 and p.room_uid = $2 and p.username = $3 and a.device = $4
              and p.left_at is null and a.expires_at > now()`,
    values: [tenant, roomUid, actor.username, actor.thumbprint],
  });
  return rows[0];
}

/**
 * Make users of a room leave: their tokens are void from now on. Returns the users who still need a leave
 * event: those who were present, and those whose last token expired before a sweep marked them. Users in
 * `usernames` who have already left get a new epoch too. Without `usernames`, only users who have not left
 * are updated: a long-lived room has far more others, and they hold no token.
 */
export async function expel(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  reason: ExpelReason,
  usernames?: readonly string[],
): Promise<Participant[]> {
  // No statement joins two tables: without statistics, PostgreSQL would compare every pair of rows.
  if (usernames) {
    await tx.query({
      name: 'void-tokens-of-left',
      text: `update participants set epoch = epoch + 1, epoch_reason = $4, revoked_at = now()
              where tenant_id = $1 and room_uid = $2 and username = any($3) and left_at is not null`,
      values: [tenant, roomUid, usernames, reason],
    });
  }
  const expelled = filtered('expel', [tenant, roomUid, reason], {
    some: usernames && ['username = any(?)', usernames],
  });
  const { rows } = await tx.query<Participant>({
    name: expelled.name,
    text: `with p as (
             update participants
                set epoch = epoch + 1, epoch_reason = $3, revoked_at = t.now, left_at = least(t.now, expires_at),
                    leave_reason = case when expires_at > t.now then $3 else 'expired' end
               from (select now() as now) as t
              where tenant_id = $1 and room_uid = $2 and left_at is null ${expelled.where}
             returning participants.*
           )
           select ${PARTICIPANT}, '[]'::json as devices
             from p, (select name from rooms where tenant_id = $1 and uid = $2) r
            order by p.username`,
    values: expelled.values,
  });
  const admitted = filtered('delete-admissions', [tenant, roomUid], {
    some: usernames && ['username = any(?)', usernames],
  });
  await tx.query({
    name: admitted.name,
    text: `delete from admissions where tenant_id = $1 and room_uid = $2 ${admitted.where}`,
    values: admitted.values,
  });
  return rows;
}

/** A user in a live room who is covered by a ban of a user or a device. */
export interface BannedUser {
  readonly roomUid: string;
  readonly username: string;
  readonly rank: number;
  /** Whether the user is in the room; for a ban of a device, on that device. */
  readonly isPresent: boolean;
}

/** `roomUid`: `null` means every live room. Ordered by room. */
export async function findUsers(
  db: Db,
  tenant: TenantId,
  roomUid: string | null,
  username: string,
): Promise<BannedUser[]> {
  const { name, where, values } = filtered('find-users', [tenant, username], {
    room: roomUid !== null && ['r.uid = ?', roomUid],
  });
  const { rows } = await db.query<BannedUser>({
    name,
    text: `select p.room_uid as "roomUid", p.username, p.rank,
                  p.left_at is null and p.expires_at > now() as "isPresent"
             from rooms r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid
            where r.tenant_id = $1 and r.state = 'LIVE' and p.username = $2 ${where}
            order by p.room_uid`,
    values,
  });
  return rows;
}

/** Like `findUsers()`, for the users of a device. */
export async function findUsersOfDevice(
  db: Db,
  tenant: TenantId,
  roomUid: string | null,
  thumbprint: string,
): Promise<BannedUser[]> {
  const { name, where, values } = filtered('find-users-of-device', [tenant, thumbprint], {
    room: roomUid !== null && ['r.uid = ?', roomUid],
  });
  const { rows } = await db.query<BannedUser>({
    name,
    text: `select p.room_uid as "roomUid", p.username, p.rank,
                  p.left_at is null and a.expires_at > now() as "isPresent"
             from admissions a
             join participants p using (tenant_id, room_uid, username)
             ${ROOM_OF_PARTICIPANT}
            where ${isOfDevice('$1', '$2')} and r.state = 'LIVE' ${where}
            order by p.room_uid, p.username`,
    values,
  });
  return rows;
}

/** Valid tokens `a` of live rooms. */
export const LIVE_TOKENS = `admissions a join rooms r on r.tenant_id = a.tenant_id and r.uid = a.room_uid
    and r.state = 'LIVE' and a.expires_at > now()`;

/**
 * Users in live rooms with valid tokens that were minted with these API keys or device credentials. It reads all devices of the
 * tenant, because no index has the keys: call it rarely.
 */
export async function findUsersOfKeys(
  db: Db,
  tenant: TenantId,
  keys: readonly string[],
): Promise<Pick<Participant, 'roomUid' | 'username'>[]> {
  const { rows } = await db.query<Pick<Participant, 'roomUid' | 'username'>>({
    name: 'find-users-of-keys',
    text: `select distinct a.room_uid as "roomUid", a.username from ${LIVE_TOKENS}
            where a.tenant_id = $1 and a.key_id = any($2)`,
    values: [tenant, keys],
  });
  return rows;
}

/** Rooms of one name, the newest, in which a user is looked for. */
const FORMER_ROOMS = 100;

/** The rank of the user's last mint in a room of this name, also one that ended. `undefined`: it is not known, or not any more. */
export async function findFormerRank(
  db: Db,
  tenant: TenantId,
  room: string,
  username: string,
): Promise<number | undefined> {
  const { rows } = await db.query<{ rank: number }>({
    name: 'find-former-rank',
    text: `select p.rank
             from (select uid, incarnation from rooms where tenant_id = $1 and name = $2
                    order by incarnation desc limit ${FORMER_ROOMS}) r
             join participants p on p.tenant_id = $1 and p.room_uid = r.uid and p.username = $3
            order by r.incarnation desc limit 1`,
    values: [tenant, room, username],
  });
  return rows[0]?.rank;
}

/** Set the restrictions of a participant. The room must be locked. */
export async function updateRestrictions(
  tx: Tx,
  tenant: TenantId,
  { roomUid, username, muted, publishRevoked }: Participant,
): Promise<Participant> {
  const { rows } = await tx.query<Participant>({
    name: 'update-restrictions',
    text: `with p as (
             update participants set muted = $4, publish_revoked = $5, revoked_at = now()
              where tenant_id = $1 and room_uid = $2 and username = $3 returning *
           )
           select ${WHOLE_PARTICIPANT} from p ${ROOM_OF_PARTICIPANT}`,
    values: [tenant, roomUid, username, muted, publishRevoked],
  });
  return reviveParticipant(rows[0]!);
}

/** Revoke all publish rights of these users, or of all (`null`), if they are present. Returns those users. */
export async function revokeAllPublishing(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  usernames: readonly string[] | null,
): Promise<Participant[]> {
  const { name, where, values } = filtered('revoke-all-publishing', [tenant, roomUid, PUBLISH_RIGHTS], {
    some: usernames && ['p.username = any(?)', usernames],
  });
  const { rows } = await tx.query<Participant>({
    name,
    text: `with p as (
             update participants p set publish_revoked = $3, revoked_at = now()
              where p.tenant_id = $1 and p.room_uid = $2 and ${PRESENT} ${where}
             returning p.*
           )
           select ${WHOLE_PARTICIPANT} from p ${ROOM_OF_PARTICIPANT}
            order by p.username`,
    values,
  });
  return rows.map(reviveParticipant);
}
