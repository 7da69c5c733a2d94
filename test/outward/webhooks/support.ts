/** Webhooks and events of tests. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import type { TestService, TestTenant } from '../../support/service.ts';

/** Append `count` events `credit_spent`, whose balances count from `from`. */
export async function appendCounted(
  app: TestService,
  tenant: { readonly id: string },
  count: number,
  from = 1,
): Promise<void> {
  const { db, events } = app.service.deps;
  await appendBalances(db, tenant, count, from);
  events.wake(parseTenantId(tenant.id)!);
}

export async function appendBalances(
  db: Pool,
  tenant: { readonly id: string },
  count: number,
  from = 1,
): Promise<void> {
  const made = Array.from({ length: count }, (_, at) => ({
    type: 'credit_spent',
    roomUid: null,
    subject: { balance: String(from + at), admitted: false },
  }));
  await appendEvents(db, parseTenantId(tenant.id)!, made);
}

export interface MadeWebhook {
  readonly id: string;
  readonly secret: string;
  readonly public_key: string;
}

export async function makeWebhook(
  app: TestService,
  tenant: Pick<TestTenant, 'key'>,
  url: string,
  more: object = {},
): Promise<MadeWebhook> {
  const made = await app.request('POST', '/v1/webhooks', { key: tenant.key, body: { url, ...more } });
  if (made.status !== 201) throw new Error(`webhook: ${made.status} ${made.text}`);
  const { webhook, secret, public_key } = made.json;
  return { id: webhook.id, secret, public_key };
}
