/** Tests that let tokens expire change the times in the rows. */
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Db } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';

/** Look at rooms, or at one, when the first token there expires now. A trigger does it, where tables may have some. */
export async function noteEarlierLapses(db: Db, tenant: TenantId, roomUid?: string): Promise<void> {
  if (!isDistributed()) return;
  await db.query(
    `insert into room_lapses as l (tenant_id, room_uid, due_at)
     select tenant_id, room_uid, min(expires_at) from participants
      where tenant_id = $1 and left_at is null and ($2::text is null or room_uid = $2) group by tenant_id, room_uid
     on conflict (tenant_id, room_uid) do update set due_at = least(l.due_at, excluded.due_at)`,
    [tenant, roomUid],
  );
}
