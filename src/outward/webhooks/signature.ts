/** Signs webhooks as Standard Webhooks 1.0.0 says. */
import { createHmac, sign } from 'node:crypto';
import { assert } from '../../base/lib/assert.ts';
import { readKeys } from './webhook-secret.ts';

export interface WebhookMessage {
  /** The same in each attempt: receivers forget repetitions by it. */
  readonly id: string;
  /** The time of this attempt. */
  readonly at: Date;
  /** The body exactly as it is sent. */
  readonly body: string;
}

/**
 * The headers of one attempt: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
 *
 * Each of `keys`, newest first, signs twice: `v1` (HMAC-SHA256) and `v1a` (Ed25519). A receiver that knows
 * any of them verifies, so a rotation loses no webhook while both keys sign.
 */
export function signWebhook(
  { id, at, body }: WebhookMessage,
  keys: readonly Uint8Array[],
): Readonly<Record<string, string>> {
  // The signed parts are separated by full stops.
  assert(/^[A-Za-z0-9_-]+$/.test(id), 'id of a webhook');
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.flatMap((each) => signaturesOf(content, each)).join(' '),
  };
}

function signaturesOf(content: Buffer, keys: Uint8Array): string[] {
  const { hmac, ed25519 } = readKeys(keys);
  return [
    `v1,${createHmac('sha256', hmac).update(content).digest('base64')}`,
    `v1a,${sign(null, content, ed25519).toString('base64')}`,
  ];
}
