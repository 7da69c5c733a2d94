/** Tests that let tokens expire change the times in the rows. */
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Db } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { noteLapse } from '../../src/control/rooms/lapses.sql.ts';

/** Look at rooms, or at one, when the first token there expires now. A trigger does it, where tables may have some. */
export async function noteEarlierLapses(db: Db, tenant: TenantId, roomUid?: string): Promise<void> {
  if (!isDistributed()) return;
  const { rows } = await db.query<{ room: string; until: string }>(
    `select room_uid as room, min(expires_at)::text as until from participants
      where tenant_id = $1 and left_at is null and ($2::text is null or room_uid = $2) group by room_uid`,
    [tenant, roomUid],
  );
  for (const { room, until } of rows) await noteLapse(db, tenant, room, until);
}
