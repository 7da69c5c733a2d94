/** `POST /v1/stripe/webhook`: provider events. Source: specification 4.13. */
import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '../../base/failure.ts';
import { type Provider, requireProvider } from '../../money/payments/provider.ts';
import { receiveEvent } from '../../money/provider-events/receive-event.ts';
import type { Deps } from '../deps.ts';

/**
 * Older signatures are refused, so that a captured event cannot be replayed later. Signatures from the
 * future are refused beyond the same tolerance: they would stay valid for longer.
 */
const TOLERANCE_SECONDS = 300;

/** A plugin of its own, because here the body must stay the exact bytes that were signed. */
export async function webhookRoute(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/v1/stripe/webhook', { schema: { hide: true } }, async (request, reply) => {
    const provider = requireProvider(deps.provider);
    const { body } = request;
    verify(provider, body, request.headers['stripe-signature']);
    if (!(await receiveEvent(deps, provider, body as Buffer))) {
      throw invalidRequest('the body is not an event');
    }
    return reply.send({ received: true });
  });
}

function verify({ stripe, webhookSecrets }: Provider, body: unknown, signature: unknown): void {
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') throw invalidRequest('no signature');
  const isSigned = webhookSecrets.some((secret) => {
    try {
      return stripe.webhooks.signature!.verifyHeader(body, signature, secret, TOLERANCE_SECONDS);
    } catch {
      // Try the next secret. If none matches, the answer gives no details.
      return false;
    }
  });
  if (!isSigned || isFromFuture(signature)) throw invalidRequest('the signature is not valid');
}

/** Stripe's client only refuses signatures that are too old. */
function isFromFuture(signature: string): boolean {
  const latest = Date.now() / 1000 + TOLERANCE_SECONDS;
  const times = signature.split(',').filter((item) => item.startsWith('t='));
  return times.some((time) => !(Number.parseInt(time.slice(2), 10) <= latest));
}
