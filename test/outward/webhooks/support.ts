/** Webhooks and events of tests. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import type { Received, Receiver } from '../../support/receiver.ts';
import type { TestService, TestTenant } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

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

/** The number of an event that `appendBalances` made. */
export const numberOf = ({ event }: Received): number => event.data.balance.micros;

/**
 * The receiver refuses these numbers, and asks for an hour after the first attempt of each: until `endTheHour`. Without that, a busy
 * machine makes all ten attempts before any other event is accepted, and then the webhook is paused.
 */
export function refuseForAnHour(
  receiver: Pick<Receiver, 'answer'>,
  path: string,
  refused: readonly number[],
): void {
  const seen = new Set<number>();
  receiver.answer(path, (received, response) => {
    const number = numberOf(received);
    if (!refused.includes(number)) return 204;
    if (!seen.has(number)) response.setHeader('retry-after', '3600');
    seen.add(number);
    return 500;
  });
}

/** How many of them the database knows to be refused. */
export async function countRefused(
  db: Pool,
  tenant: { readonly id: string },
  webhookId: string,
): Promise<number> {
  const { rowCount } = await db.query(
    `select from webhook_waiting where tenant_id = $1 and webhook_id = $2 and retry_at > now() + interval '1 minute'`,
    [idOf(tenant), webhookId],
  );
  return rowCount!;
}

/** What has failed once is tried again, if another event was accepted since: then the fault is the event's own. */
export async function endTheHour(
  db: Pool,
  tenant: { readonly id: string },
  webhookId: string,
): Promise<number> {
  const { rowCount } = await db.query(
    `update webhook_waiting q set retry_at = now()
       from webhook_cursors c
      where q.tenant_id = $1 and q.webhook_id = $2 and q.retry_at > now() + interval '1 minute'
        and c.tenant_id = $1 and c.webhook_id = $2 and c.delivered_at > q.failed_at`,
    [idOf(tenant), webhookId],
  );
  // The worker looks at webhooks of which something is due.
  await db.query('update webhook_cursors set aside_at = now() where tenant_id = $1 and webhook_id = $2', [
    idOf(tenant),
    webhookId,
  ]);
  return rowCount!;
}
