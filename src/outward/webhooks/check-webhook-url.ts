/** Refuse an address to which nothing could be delivered. */
import { invalidField } from '../../base/failure.ts';
import { RequestError } from './request-error.ts';
import type { WebhookDeps } from './send-message.ts';
import { parseWebhookUrl } from './webhook-url.ts';

/**
 * By plain http, the name must have addresses that the operator allows, as for a delivery. This asks name servers, so no
 * transaction may be open. `before`: the address so far, which may stay whatever it is.
 *
 * Fails with `invalid_request` about the field `url`.
 */
export async function checkWebhookUrl(
  { config, webhookSender }: Pick<WebhookDeps, 'config' | 'webhookSender'>,
  text: string,
  before?: string,
): Promise<void> {
  if (text === before) return;
  const url = parseWebhookUrl(text, config.webhookNetworks);
  try {
    await webhookSender.checkName(url);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw invalidField('url', `must begin with https://: ${error.message}`);
  }
}
