/** SQL of `room_usage`: sums of usage by room and incarnation, that of sessions and that which belongs to none. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Room } from '../rooms/room.ts';
import type { OpenSession } from './follow-sessions.ts';
import type { Stay } from './match-session.ts';
import { NO_USAGE, type SessionUsage } from './session.ts';
import { addedUsage, readUsage, USAGE, USAGE_COLUMNS, type UsageRow, usageRow } from './sessions.sql.ts';

export interface RoomSum {
  /** Empty: the records have none. */
  readonly room: string;
  /** Empty: no room of this name was there. */
  readonly roomUid: string;
  /** It belongs to a session. */
  readonly isAssigned: boolean;
  readonly usage: SessionUsage;
}

export function addToRooms(tenant: TenantId, sums: readonly RoomSum[]): Statement[] {
  if (sums.length === 0) return [];
  return [
    {
      name: 'add-to-room-usage',
      text: `insert into room_usage as u
             (tenant_id, room, room_uid, is_assigned, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
           select $1, room, room_uid, is_assigned, records, seconds, egress_bytes, ingress_bytes, amount, unbilled
             from json_to_recordset($2) as n (room text, room_uid text, is_assigned boolean, ${USAGE_COLUMNS})
            order by room collate "C", room_uid collate "C", is_assigned
           on conflict (tenant_id, room, room_uid, is_assigned) do update set ${addedUsage('u', 'excluded')}`,
      values: [
        tenant,
        JSON.stringify(
          sums.map(({ room, roomUid, isAssigned, usage }) => ({
            room,
            room_uid: roomUid,
            is_assigned: isAssigned,
            ...usageRow(usage),
          })),
        ),
      ],
    },
  ];
}

/** Count sessions that have begun. Call it after all changes of sessions: the rows are locked in the order of `addToRooms()`. */
export async function countSessions(
  tx: Tx,
  tenant: TenantId,
  sessions: readonly Pick<OpenSession, 'room' | 'roomUid'>[],
): Promise<void> {
  if (sessions.length === 0) return;
  await tx.query({
    name: 'count-sessions-of-rooms',
    text: `insert into room_usage as u (tenant_id, room, room_uid, is_assigned, sessions)
           select $1, room, room_uid, true, count(*) from unnest($2::text[], $3::text[]) as n (room, room_uid)
            group by room, room_uid order by room collate "C", room_uid collate "C"
           on conflict (tenant_id, room, room_uid, is_assigned) do update set sessions = u.sessions + excluded.sessions`,
    values: [tenant, sessions.map(({ room }) => room), sessions.map(({ roomUid }) => roomUid)],
  });
}

export interface RoomUsage {
  /** How many have begun. */
  readonly sessions: bigint;
  /** The sums of all sessions. */
  readonly assigned: SessionUsage;
  readonly unassigned: SessionUsage;
}

export async function findRoomUsage(
  db: Db,
  tenant: TenantId,
  { uid, name }: Pick<Room, 'uid' | 'name'>,
): Promise<RoomUsage> {
  const { rows } = await db.query<UsageRow & { sessions: bigint; isAssigned: boolean }>({
    name: 'find-room-usage',
    text: `select is_assigned as "isAssigned", sessions, ${USAGE}
             from room_usage where tenant_id = $1 and room = $2 and room_uid = $3`,
    values: [tenant, name, uid],
  });
  const [ofSessions, others] = [true, false].map((asked) => rows.find((row) => row.isAssigned === asked));
  return {
    sessions: ofSessions?.sessions ?? 0n,
    assigned: ofSessions ? readUsage(ofSessions) : NO_USAGE,
    unassigned: others ? readUsage(others) : NO_USAGE,
  };
}

/** Micros that were charged for these rooms, by uid. One without usage is left out. */
export async function findRoomCosts(
  db: Db,
  tenant: TenantId,
  rooms: readonly Pick<Room, 'uid' | 'name'>[],
): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ roomUid: string; amount: bigint }>({
    name: 'find-room-costs',
    text: `select u.room_uid as "roomUid", sum(u.amount)::bigint as amount
             from room_usage u join unnest($2::text[], $3::text[]) as n (room, room_uid) using (room, room_uid)
            where u.tenant_id = $1 group by u.room_uid`,
    values: [tenant, rooms.map(({ name }) => name), rooms.map(({ uid }) => uid)],
  });
  return new Map(rows.map(({ roomUid, amount }) => [roomUid, amount]));
}

/** An incarnation of a room that usage may belong to. */
export interface Incarnation extends Stay {
  readonly room: string;
  readonly roomUid: string;
}

/** Newer incarnations of a room than the one that a record belongs to. */
const NEWER_MAX = 10;

/** The newest incarnations of these rooms that began before `before`, newest first. */
export async function findIncarnations(
  tx: Tx,
  tenant: TenantId,
  rooms: readonly string[],
  before: Date,
): Promise<Incarnation[]> {
  if (rooms.length === 0) return [];
  const { rows } = await tx.query<Incarnation>({
    name: 'find-incarnations',
    text: `select n.room, r.uid as "roomUid", r.created_at as "from", r.ended_at as "to"
             from unnest($2::text[]) as n (room), lateral (
               select uid, created_at, ended_at, incarnation from rooms
                where tenant_id = $1 and name = n.room and created_at <= $3
                order by incarnation desc limit ${NEWER_MAX}) as r
            order by n.room, r.incarnation desc`,
    values: [tenant, rooms, before],
  });
  return rows;
}
