/** SQL that opens a room for the first join of its name. */
import type { Db } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DEFAULT_POLICY } from '../rooms/room.ts';
import { ROOM } from '../rooms/rooms.sql.ts';

export interface OpenedRoom {
  readonly uid: string;
  /** False: another call has opened the room meanwhile. */
  readonly isNew: boolean;
}

/** Open the first room of this name. `undefined` if another call has opened it meanwhile, and it has ended. */
export async function openFirstRoom(db: Db, tenant: TenantId, name: string): Promise<OpenedRoom | undefined> {
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
  if (opened.rows[0]) return { uid: opened.rows[0].uid, isNew: true };
  const { rows } = await db.query<{ uid: string }>(
    `select uid from rooms where tenant_id = $1 and name = $2 and state = 'LIVE'`,
    [tenant, name],
  );
  return rows[0] && { uid: rows[0].uid, isNew: false };
}
