/** Give a webhook a new secret. The old ones sign too until the overlap ends, so that receivers can change over. */
import { assertOverlap } from '../../access/keys/rotation-overlap.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { NewWebhookSecret } from './create-webhook.ts';
import { getLockedWebhook } from './get-webhook.ts';
import { secretContext, type WebhookDeps } from './send-message.ts';
import type { WebhookChanger } from './webhook.ts';
import { rotatedEntry } from './webhook-audit.ts';
import { newSecret, SIGNING_SECRETS_MAX } from './webhook-secret.ts';
import { countSecrets, insertSecret, retireSecrets } from './webhooks.sql.ts';

export interface RotatedSecret extends NewWebhookSecret {
  readonly oldSecretRetires: Date;
}

/** Fails with `not_found`, and with `quota_exceeded` if too many secrets sign already. Without an overlap it never does. */
export async function rotateSecret(
  tx: Tx,
  { box }: Pick<WebhookDeps, 'box'>,
  { tenant, actor }: WebhookChanger,
  id: string,
  overlapSeconds: number,
): Promise<RotatedSecret> {
  assertOverlap(overlapSeconds);
  const webhook = await getLockedWebhook(tx, tenant, id);
  const { next: number, signing } = await countSecrets(tx, tenant, id);
  if (overlapSeconds > 0 && signing >= SIGNING_SECRETS_MAX) {
    const message = `limit reached: at most ${SIGNING_SECRETS_MAX} secrets that sign; overlap_seconds 0 retires the old ones at once`;
    throw new Failure('quota_exceeded', { message });
  }
  const oldSecretRetires = await retireSecrets(tx, tenant, id, overlapSeconds);
  const { secret, publicKey, keys } = newSecret();
  const sealed = box.seal(Buffer.from(keys), secretContext(tenant, id, number));
  await insertSecret(tx, tenant, id, { number, sealed });
  await appendAudit(tx, tenant, actor, rotatedEntry(id, oldSecretRetires));
  return { webhook, secret, publicKey, oldSecretRetires };
}
