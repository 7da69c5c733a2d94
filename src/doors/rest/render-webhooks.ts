/** Webhooks with what their rows do not have. */
import type { Db } from '../../base/db/pool.ts';
import type { Static } from '../../base/lib/schema.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { NewWebhookSecret } from '../../outward/webhooks/create-webhook.ts';
import { findPublicKeys } from '../../outward/webhooks/find-public-keys.ts';
import type { WebhookDeps } from '../../outward/webhooks/send-message.ts';
import type { Webhook } from '../../outward/webhooks/webhook.ts';
import { renderWebhook, type WebhookSchema } from './webhook-schema.ts';

type Rendered = Static<typeof WebhookSchema>;

/** `db`: the transaction that changed them, if there is one. */
export async function renderWebhooks(
  deps: Pick<WebhookDeps, 'box' | 'config'>,
  db: Db,
  tenant: TenantId,
  webhooks: readonly Webhook[],
): Promise<Rendered[]> {
  const keys = await findPublicKeys(
    deps,
    db,
    tenant,
    webhooks.map(({ id }) => id),
  );
  const { webhookEgress } = deps.config;
  return webhooks.map((each) => renderWebhook(each, keys.get(each.id)!, webhookEgress));
}

export async function renderOne(
  deps: Pick<WebhookDeps, 'box' | 'config'>,
  db: Db,
  tenant: TenantId,
  webhook: Webhook,
): Promise<Rendered> {
  const [rendered] = await renderWebhooks(deps, db, tenant, [webhook]);
  return rendered!;
}

export async function renderSecret(
  deps: Pick<WebhookDeps, 'box' | 'config'>,
  db: Db,
  tenant: TenantId,
  { webhook, secret, publicKey }: NewWebhookSecret,
): Promise<{ webhook: Rendered; secret: string; public_key: string }> {
  return { webhook: await renderOne(deps, db, tenant, webhook), secret, public_key: publicKey };
}
