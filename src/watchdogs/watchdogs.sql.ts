/** SQL of `watchdogs`. */
import type { Tx } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

/** None of a room's watchdogs can fire any more. */
export async function disarmWatchdogs(tx: Tx, tenant: TenantId, roomUid: string): Promise<void> {
  await tx.query(
    `update watchdogs set state = 'disarmed', check_at = null
      where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')`,
    [tenant, roomUid],
  );
}

/** Something happened to the room: its watchdogs look at it again, within a second. */
export async function wakeWatchdogs(tx: Tx, tenant: TenantId, roomUid: string): Promise<void> {
  await tx.query(
    `update watchdogs set check_at = now()
      where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')`,
    [tenant, roomUid],
  );
}
