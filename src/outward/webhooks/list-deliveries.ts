/** Attempts to send events to a webhook, newest first. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type DeliveryFilter, findDeliveries } from './deliveries.sql.ts';
import type { Delivery } from './delivery.ts';
import { getWebhook } from './get-webhook.ts';

export const DELIVERIES_PAGE_MAX = 500;
export const DELIVERIES_PAGE_USUAL = 100;

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Id of the last one, if there are more. */
  readonly end: bigint | undefined;
}

/** `before` is the `end` of the previous page. Fails with `not_found`. */
export async function listDeliveries(
  db: Db,
  tenant: TenantId,
  id: string,
  { size, ...asked }: DeliveryFilter & { readonly size: number },
): Promise<DeliveryPage> {
  await getWebhook(db, tenant, id);
  const { items, end } = await readPage(size, (limit) => findDeliveries(db, tenant, id, { ...asked, limit }));
  return { deliveries: items, end: end?.id };
}
