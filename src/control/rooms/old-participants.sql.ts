/** SQL that deletes participants who are no longer shown. */
import type { Db } from '../../base/db/pool.ts';

/** Participants who left more than $1 days ago and have no restrictions. */
const FORGETTABLE = `left_at < now() - make_interval(days => $1) and muted = '{}' and publish_revoked = '{}'`;

/**
 * Delete some participants who left long ago. Returns how many. Participants with restrictions are kept, in
 * case they come back. The rooms keep the times when participants and hosts last left, for watchdogs.
 *
 * As everywhere, the room is locked before its participants. Locked rooms are left to the next sweep.
 */
export async function deleteOldParticipants(
  db: Db,
  options: { keepDays: number; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'delete-old-participants',
    text: `with old as (
             select tenant_id, room_uid, username from participants
              where ${FORGETTABLE} order by left_at limit $2
           ), r as (
             select tenant_id, uid from rooms where (tenant_id, uid) in (select tenant_id, room_uid from old)
                for no key update skip locked
           ), p as (
             -- Participants who came back meanwhile stay. "is true" keeps the planner on the primary key.
             delete from participants where (${FORGETTABLE}) is true and (tenant_id, room_uid, username) in (
               select o.tenant_id, o.room_uid, o.username
                 from old o join r on r.tenant_id = o.tenant_id and r.uid = o.room_uid)
             returning *
           ), latest as (
             select tenant_id, room_uid, max(left_at) as left_at,
                    max(case when last_seen_at is null then left_at
                             else least(left_at, greatest(entered_at, last_seen_at)) end)
                      filter (where role = 'host') as host_at
               from p group by tenant_id, room_uid
           ), kept as (
             update rooms set last_left_at = greatest(last_left_at, l.left_at),
                              last_host_at = greatest(last_host_at, l.host_at)
               from latest l where rooms.tenant_id = l.tenant_id and rooms.uid = l.room_uid
           )
           select count(*)::integer as count from p`,
    values: [options.keepDays, options.limit],
  });
  return rows[0]!.count;
}

/**
 * Delete some participants of rooms that ended long ago, with or without restrictions. A room without
 * participants is marked as swept. Returns how many of both.
 */
export async function sweepEndedRooms(db: Db, options: { keepDays: number; limit: number }): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'sweep-ended-rooms',
    text: `with r as (
             select tenant_id, uid from rooms
              where ended_at < now() - make_interval(days => $1) and not is_swept
              order by ended_at limit $2 for no key update skip locked
           ), p as (
             delete from participants where (tenant_id, room_uid, username) in (
               select p.tenant_id, p.room_uid, p.username
                 from r join participants p on p.tenant_id = r.tenant_id and p.room_uid = r.uid limit $2)
             returning 1
           ), swept as (
             update rooms set is_swept = true from r
              where rooms.tenant_id = r.tenant_id and rooms.uid = r.uid
                and not exists (select from participants p
                                 where p.tenant_id = r.tenant_id and p.room_uid = r.uid)
             returning 1
           )
           select (select count(*) from p)::integer + (select count(*) from swept)::integer as count`,
    values: [options.keepDays, options.limit],
  });
  return rows[0]!.count;
}
