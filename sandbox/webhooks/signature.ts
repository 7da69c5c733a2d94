/**
 * The `Stripe-Signature` header: `t=<seconds>,v1=<HMAC-SHA256 of "t.body">`.
 *
 * Source: docs.stripe.com/webhooks/signature.
 */
import { createHmac } from 'node:crypto';

export function signatureHeader(body: string, secret: string, timestamp: number): string {
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return `t=${timestamp},v1=${signature}`;
}
