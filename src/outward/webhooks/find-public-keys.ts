/** The public keys that verify what webhooks get: those of the secrets that sign now. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { secretContext, type WebhookDeps } from './send-message.ts';
import { describeSecret } from './webhook-secret.ts';
import { findSecretsOf, type SealedSecret } from './webhooks.sql.ts';

/** The keys of each of these webhooks, the newest first. */
export async function findPublicKeys(
  { box }: Pick<WebhookDeps, 'box'>,
  db: Db,
  tenant: TenantId,
  webhooks: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const keys = new Map<string, string[]>(webhooks.map((each) => [each, []]));
  for (const { webhook, ...secret } of await findSecretsOf(db, tenant, webhooks)) {
    const opened = open(box, secret, secretContext(tenant, webhook, secret.number));
    if (opened) keys.get(webhook)!.push(describeSecret(opened).publicKey);
  }
  return keys;
}

/** `undefined`: `SECRETS_KEY` was replaced, so this secret signs nothing any more. The webhook can be read nevertheless. */
function open(box: WebhookDeps['box'], { sealed }: SealedSecret, context: string): Uint8Array | undefined {
  try {
    return box.open(sealed, context);
  } catch {
    return undefined;
  }
}
