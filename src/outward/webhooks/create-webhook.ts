/** Create a webhook. It gets the events that happen from then on. */
import { lockForCaller } from '../../access/sessions/lock-for-caller.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import { appendNumberedEvents } from '../../events/append-events.sql.ts';
import { getWebhook } from './get-webhook.ts';
import { secretContext, type WebhookDeps } from './send-message.ts';
import { type GivenHeaders, setOwnHeaders } from './set-own-headers.ts';
import {
  parseDescription,
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookChanger,
  type WebhookSettings,
} from './webhook.ts';
import { createdEntry } from './webhook-audit.ts';
import { insertCursor } from './webhook-cursors.sql.ts';
import { newSecret } from './webhook-secret.ts';
import { parseWebhookUrl } from './webhook-url.ts';
import { countWebhooks, insertSecret, insertWebhook } from './webhooks.sql.ts';

/** Secrets are returned once. */
export interface NewWebhookSecret {
  readonly webhook: Webhook;
  readonly secret: string;
  readonly publicKey: string;
}

/** Fails with `invalid_request` if the address or the description is not acceptable, and with `quota_exceeded`. */
export async function createWebhook(
  tx: Tx,
  deps: Pick<WebhookDeps, 'box' | 'config'>,
  by: WebhookChanger,
  { headers, basicAuth, ...wanted }: WebhookSettings & GivenHeaders,
): Promise<NewWebhookSecret> {
  const { tenant, actor } = by;
  await lockForCaller(tx, by);
  const settings = {
    ...wanted,
    url: parseWebhookUrl(wanted.url, deps.config.webhookNetworks).href,
    description: parseDescription(wanted.description),
  };
  const id = newId('wh');
  const { secret, publicKey, keys } = newSecret();
  // This locks the tenant's log, so creations of one tenant take turns.
  const next = await appendNumberedEvents(tx, tenant, []);
  if ((await countWebhooks(tx, tenant)) >= WEBHOOKS_MAX) {
    throw new Failure('quota_exceeded', { message: `limit reached: at most ${WEBHOOKS_MAX} webhooks` });
  }
  await insertWebhook(tx, tenant, { id, ...settings });
  const shown = await setOwnHeaders(tx, deps.box, { tenant, id }, { headers, basicAuth });
  await insertCursor(tx, { tenant, id }, next - 1n);
  await insertSecret(tx, tenant, id, {
    number: 1,
    sealed: deps.box.seal(Buffer.from(keys), secretContext(tenant, id, 1)),
  });
  await appendAudit(tx, tenant, actor, createdEntry(id, settings, shown));
  return { webhook: await getWebhook(tx, tenant, id), secret, publicKey };
}
