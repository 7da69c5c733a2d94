/** SQL of `unassigned_usage`: sums of usage that belongs to no session, by room and incarnation. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Stay } from './match-session.ts';
import type { SessionUsage } from './session.ts';
import { addedUsage, USAGE_COLUMNS, usageRow } from './sessions.sql.ts';

export interface UnassignedSum {
  /** Empty: the records have none. */
  readonly room: string;
  /** Empty: no room of this name was there. */
  readonly roomUid: string;
  readonly usage: SessionUsage;
}

export async function addToUnassigned(
  tx: Tx,
  tenant: TenantId,
  sums: readonly UnassignedSum[],
): Promise<void> {
  if (sums.length === 0) return;
  await tx.query({
    name: 'add-to-unassigned',
    text: `insert into unassigned_usage as u
             (tenant_id, room, room_uid, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
           select $1, room, room_uid, records, seconds, egress_bytes, ingress_bytes, amount, unbilled
             from json_to_recordset($2) as n (room text, room_uid text, ${USAGE_COLUMNS})
            order by room collate "C", room_uid
           on conflict (tenant_id, room, room_uid) do update set ${addedUsage('u', 'excluded')}`,
    values: [
      tenant,
      JSON.stringify(
        sums.map(({ room, roomUid, usage }) => ({ room, room_uid: roomUid, ...usageRow(usage) })),
      ),
    ],
  });
}

/** An incarnation of a room that usage may belong to. */
export interface Incarnation extends Stay {
  readonly room: string;
  readonly uid: string;
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
    text: `select n.room, r.uid, r.created_at as "from", r.ended_at as "to"
             from unnest($2::text[]) as n (room), lateral (
               select uid, created_at, ended_at, incarnation from rooms
                where tenant_id = $1 and name = n.room and created_at <= $3
                order by incarnation desc limit ${NEWER_MAX}) as r
            order by n.room, r.incarnation desc`,
    values: [tenant, rooms, before],
  });
  return rows;
}
