/** Tests that let tokens expire change the times in the rows. */
import type { Db } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';

/** Look at rooms when the first token there expires now. A trigger does it, where tables are not distributed. */
export async function noteEarlierLapses(db: Db, tenant: TenantId): Promise<void> {
  await db.query(
    `insert into room_lapses as l (tenant_id, room_uid, due_at)
     select tenant_id, room_uid, min(expires_at) from participants
      where tenant_id = $1 and left_at is null group by tenant_id, room_uid
     on conflict (tenant_id, room_uid) do update set due_at = least(l.due_at, excluded.due_at)`,
    [tenant],
  );
}
