/** SQL that opens a room for the first join of its name. */
import type { Db } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DEFAULT_POLICY } from '../rooms/room.ts';
import { ROOM } from '../rooms/rooms.sql.ts';

/**
 * Open the first room of this name. Returns its uid, or that of the live room that another call has opened
 * meanwhile; `undefined` if that room has already ended.
 */
export async function openFirstRoom(db: Db, tenant: TenantId, name: string): Promise<string | undefined> {
  const opened = await db.query<{ uid: string }>(
    `with r as (
       insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, $3, 1, $4)
       on conflict do nothing returning *
     ), appended as (
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
