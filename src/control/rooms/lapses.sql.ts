/**
 * SQL that finds participants whose last token expired. Uses database time.
 *
 * `room_lapses` tells when to look at a room next: triggers move the time earlier when a user enters or loses a
 * device, and the sweep moves it later. So a renewal changes nothing that is indexed by time.
 */
import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Participant } from './participant.ts';
import { PARTICIPANT, ROOM_OF_PARTICIPANT } from './participants.sql.ts';

/** A device of a user who is present is kept for a day after its last token expired. */
const ADMISSION_HOURS = 24;

export interface DueRoom {
  readonly tenant: TenantId;
  readonly roomUid: string;
}

/** Some of the rooms where a participant may have lapsed, the longest due first. */
export function findDueRooms(db: Db, limit: number): Promise<DueRoom[]> {
  return onServers<DueRoom>(db, {
    name: 'find-due-rooms',
    text: (tenants) => `select tenant_id as tenant, room_uid as "roomUid" from room_lapses
            where due_at <= now() ${tenants.and('tenant_id', 2)} order by due_at limit $1`,
    values: [limit],
  });
}

/**
 * Mark some participants of these rooms as left whose last token expired, delete their devices, and return them.
 * Rows that a renewal or another sweep has locked are skipped.
 */
export async function markExpired(
  tx: Tx,
  tenant: TenantId,
  roomUids: readonly string[],
  limit: number,
): Promise<Participant[]> {
  const { rows } = await tx.query<Participant>({
    name: 'mark-expired',
    text: `with expired as (
             select room_uid, username from participants
              where tenant_id = $1 and room_uid = any($2) and left_at is null and expires_at <= now()
              limit $3 for update skip locked
           ), p as (
             update participants p set left_at = p.expires_at, leave_reason = 'expired'
               from expired e
              where p.tenant_id = $1 and p.room_uid = e.room_uid and p.username = e.username
             returning p.*
           ), devices as (
             delete from admissions a using expired e
              where a.tenant_id = $1 and a.room_uid = e.room_uid and a.username = e.username
           )
           select ${PARTICIPANT}, '[]'::json as devices
             from p ${ROOM_OF_PARTICIPANT}
            order by p.left_at, p.room_uid, p.username`,
    values: [tenant, roomUids, limit],
  });
  return rows;
}

/**
 * Look at these rooms again when the next of their participants may lapse, and delete devices whose tokens expired
 * long ago. Returns for how many rooms that is later: a room that is locked, or where another user has lapsed
 * meanwhile, stays due.
 */
export async function postponeLapses(tx: Tx, tenant: TenantId, roomUids: readonly string[]): Promise<number> {
  const { rows: locked } = await tx.query<{ uid: string }>({
    name: 'lock-due-rooms',
    text: `select uid from rooms where tenant_id = $1 and uid = any($2) order by uid
              for no key update skip locked`,
    values: [tenant, roomUids],
  });
  // A later statement, so that it sees everybody who entered before the lock.
  const { rows } = await tx.query<{ count: number }>({
    name: 'postpone-lapses',
    text: `with next as (
             select u.room_uid, (select min(p.expires_at) from participants p where p.tenant_id = $1
                                   and p.room_uid = u.room_uid and p.left_at is null) as due_at
               from unnest($2::text[]) u (room_uid)
           ), later as (
             update room_lapses l set due_at = next.due_at from next
              where l.tenant_id = $1 and l.room_uid = next.room_uid and next.due_at > now()
             returning 1
           ), empty as (
             delete from room_lapses l using next
              where l.tenant_id = $1 and l.room_uid = next.room_uid and next.due_at is null
             returning 1
           ), old as (
             delete from admissions where tenant_id = $1 and room_uid = any($2)
                and expires_at < now() - make_interval(hours => $3)
           )
           select ((select count(*) from later) + (select count(*) from empty))::integer as count`,
    values: [tenant, locked.map(({ uid }) => uid), ADMISSION_HOURS],
  });
  return rows[0]!.count;
}

/** Where tables are distributed and have no triggers: look at the room when the token of an entering user expires. */
export async function noteLapse(tx: Tx, tenant: TenantId, roomUid: string, until: string): Promise<void> {
  await tx.query({
    name: 'note-lapse',
    text: `insert into room_lapses as l (tenant_id, room_uid, due_at) values ($1, $2, $3::timestamptz)
           on conflict (tenant_id, room_uid) do update set due_at = excluded.due_at where l.due_at > excluded.due_at`,
    values: [tenant, roomUid, until],
  });
}
