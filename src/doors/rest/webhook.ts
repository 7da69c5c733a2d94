/** `POST /v1/stripe/webhook`: provider events. Source: specification 4.13. */
import type { FastifyInstance } from 'fastify';
import type Stripe from 'stripe';
import { invalidRequest } from '../../base/failure.ts';
import { handleEvent } from '../../money/payments/handle-event.ts';
import { type Provider, requireProvider } from '../../money/payments/provider.ts';
import type { Deps } from '../deps.ts';

/** Older signatures are refused, so that a captured event cannot be replayed later. */
const TOLERANCE_SECONDS = 300;

/** A plugin of its own, because here the body must stay the exact bytes that were signed. */
export async function webhookRoute(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/v1/stripe/webhook', { schema: { hide: true } }, async (request, reply) => {
    const provider = requireProvider(deps.provider);
    const event = verify(provider, request.body, request.headers['stripe-signature']);
    if (!isEvent(event)) throw invalidRequest('the body is not an event');
    await handleEvent(deps, provider, event);
    return reply.send({ received: true });
  });
}

function verify({ stripe, webhookSecrets }: Provider, body: unknown, signature: unknown): unknown {
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') throw invalidRequest('no signature');
  for (const secret of webhookSecrets) {
    try {
      return stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_SECONDS);
    } catch {
      // Try the next secret. If none matches, the answer gives no details.
    }
  }
  throw invalidRequest('the signature is not valid');
}

/** The provider signs the body, but an endpoint may be configured to send events of another shape. */
function isEvent(value: unknown): value is Stripe.Event {
  const event = value as Partial<Stripe.Event> | null;
  return (
    typeof event?.id === 'string' && typeof event.type === 'string' && typeof event.data?.object === 'object'
  );
}
