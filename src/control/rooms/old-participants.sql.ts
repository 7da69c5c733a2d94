/** SQL that deletes participants who are no longer shown. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { countInShares, type Share } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Participant } from './participant.ts';
import { PARTICIPANT, PRESENT, ROOM_OF_PARTICIPANT } from './participants.sql.ts';

/** Participants that left are shown for so long. */
export const PARTICIPANT_DAYS = 7;

/** Participants who left more than $1 days ago and have no restrictions. */
const FORGETTABLE = `left_at < now() - make_interval(days => $1) and muted = '{}' and publish_revoked = '{}'`;

/**
 * For a `with`, after the deletion of participants who have left, as `p`: the rooms keep the times when participants and
 * hosts last left, for watchdogs.
 */
const keepTimes = (ofTenant: string) => `latest as (
    select tenant_id, room_uid, max(left_at) as left_at,
           max(case when last_seen_at is null then left_at
                    else least(left_at, greatest(entered_at, last_seen_at)) end)
             filter (where role = 'host') as host_at
      from p group by tenant_id, room_uid
  ), kept as (
    update rooms set last_left_at = greatest(last_left_at, l.left_at),
                     last_host_at = greatest(last_host_at, l.host_at)
      from latest l where rooms.tenant_id = l.tenant_id and rooms.uid = l.room_uid ${ofTenant}
  )`;

/**
 * Delete some participants who left long ago. Returns how many. Participants with restrictions are kept, in
 * case they come back.
 *
 * As everywhere, the room is locked before its participants. Locked rooms are left to the next sweep.
 */
export async function deleteOldParticipants(
  db: Db,
  options: { keepDays: number; limit: number },
): Promise<number> {
  const { keepDays } = options;
  const old = { table: 'participants', where: FORGETTABLE, values: [keepDays] };
  return countInShares(db, old, (share) => deleteInShare(db, share, options));
}

async function deleteInShare(
  db: Db,
  share: Share,
  options: { keepDays: number; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: share.name('delete-old-participants'),
    text: `with old as (
             select tenant_id, room_uid, username from participants
              where ${FORGETTABLE} ${share.and('tenant_id', 3)} order by left_at limit $2
           ), r as (
             select tenant_id, uid from rooms where (tenant_id, uid) in (select tenant_id, room_uid from old)
                   ${share.and('tenant_id', 3)}
                for no key update skip locked
           ), p as (
             -- Participants who came back meanwhile stay. "is true" keeps the planner on the primary key.
             delete from participants where (${FORGETTABLE}) is true ${share.and('tenant_id', 3)} and (tenant_id, room_uid, username) in (
               select o.tenant_id, o.room_uid, o.username
                 from old o join r on r.tenant_id = o.tenant_id and r.uid = o.room_uid)
             returning *
           ), ${keepTimes(share.and('rooms.tenant_id', 3))}
           select count(*)::integer as count from p`,
    values: [options.keepDays, options.limit, ...share.values],
  });
  return rows[0]!.count;
}

/**
 * Delete some participants of rooms that ended long ago, with or without restrictions. A room without
 * participants is marked as swept. Returns how many of both.
 */
export async function sweepEndedRooms(db: Db, options: { keepDays: number; limit: number }): Promise<number> {
  const ended = { table: 'rooms', where: IS_UNSWEPT, values: [options.keepDays] };
  return countInShares(db, ended, (share) => sweepInShare(db, share, options));
}

const IS_UNSWEPT = 'ended_at < now() - make_interval(days => $1) and not is_swept';

async function sweepInShare(
  db: Db,
  share: Share,
  options: { keepDays: number; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: share.name('sweep-ended-rooms'),
    text: `with r as (
             select tenant_id, uid from rooms
              where ${IS_UNSWEPT} ${share.and('tenant_id', 3)}
              order by ended_at limit $2 for no key update skip locked
           ), p as (
             delete from participants where (tenant_id, room_uid, username) in (
               select p.tenant_id, p.room_uid, p.username
                 from r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid
                where true ${share.and('p.tenant_id', 3)} limit $2) ${share.and('tenant_id', 3)}
             returning 1
           ), swept as (
             update rooms set is_swept = true from r
              where rooms.tenant_id = r.tenant_id and rooms.uid = r.uid ${share.and('rooms.tenant_id', 3)}
                and not exists (select from participants p
                                 where p.tenant_id = r.tenant_id and p.room_uid = r.uid ${share.and('p.tenant_id', 3)})
             returning 1
           )
           select (select count(*) from p)::integer + (select count(*) from swept)::integer as count`,
    values: [options.keepDays, options.limit, ...share.values],
  });
  return rows[0]!.count;
}

/** What keeps a user in the tables. */
export interface KeptUser {
  readonly roomUid: string;
  readonly isPresent: boolean;
  /** Whether the room may still have to refuse tokens that a moderator made void. */
  readonly isExpelled: boolean;
}

/** The rooms, ended ones too, that have one of these users, by uid. */
export async function findRoomsOfUsers(
  tx: Tx,
  tenant: TenantId,
  usernames: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ uid: string }>({
    name: 'find-rooms-of-users',
    // One look-up a room, because no index begins with the name.
    text: `select r.uid from rooms r
            where r.tenant_id = $1 and not r.is_swept
              and exists (select from participants p
                           where p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.username = any($2) offset 0)
            order by r.uid`,
    values: [tenant, usernames],
  });
  return rows.map(({ uid }) => uid);
}

/** Lock these users in rooms that are locked. `voidSeconds`: how long relays are told of tokens that became void. */
export async function lockUsers(
  tx: Tx,
  tenant: TenantId,
  { roomUids, usernames, voidSeconds }: UsersOfRooms & { readonly voidSeconds: number },
): Promise<KeptUser[]> {
  const { rows } = await tx.query<KeptUser>({
    name: 'lock-users',
    text: `select p.room_uid as "roomUid", ${PRESENT} as "isPresent",
                  p.epoch > 0 and p.revoked_at > now() - make_interval(secs => $4) and r.state = 'LIVE' as "isExpelled"
             from participants p ${ROOM_OF_PARTICIPANT}
            where p.tenant_id = $1 and p.room_uid = any($2) and p.username = any($3)
            order by p.room_uid, p.username for update of p`,
    values: [tenant, roomUids, usernames, voidSeconds],
  });
  return rows;
}

export interface UsersOfRooms {
  readonly roomUids: readonly string[];
  readonly usernames: readonly string[];
}

/** A participant as of the deletion. */
export interface Deleted extends Participant {
  /** Whether nothing has told yet that the last token expired. */
  readonly isUntold: boolean;
}

/** Delete these users, who have left, with their devices. They and their rooms are locked. */
export async function deleteUsers(
  tx: Tx,
  tenant: TenantId,
  { roomUids, usernames }: UsersOfRooms,
): Promise<Deleted[]> {
  const { rows } = await tx.query<Deleted>({
    name: 'delete-users',
    text: `with deleted as (
             delete from participants where tenant_id = $1 and room_uid = any($2) and username = any($3)
             returning *
           ), p as (
             select tenant_id, room_uid, role, entered_at, last_seen_at, coalesce(left_at, expires_at) as left_at
               from deleted
           ), ${keepTimes('and rooms.tenant_id = $1')}
           select ${PARTICIPANT}, '[]'::json as devices, p.left_at is null as "isUntold"
             from deleted p ${ROOM_OF_PARTICIPANT}
            order by p.room_uid, p.username`,
    values: [tenant, roomUids, usernames],
  });
  return rows;
}
