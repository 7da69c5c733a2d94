/** `POST /v1/stripe/webhook`: notifications of the payment provider. Source: specification 4.13. */
import type { FastifyInstance } from 'fastify';
import type Stripe from 'stripe';
import type { Deps } from '../../deps.ts';
import { Failure, invalidRequest } from '../../failure.ts';
import { handleEvent } from '../../payments/handle-event.ts';
import { type Provider, requireProvider } from '../../payments/provider.ts';

/** Older signatures are refused, so that a captured notification cannot be played again for ever. */
const TOLERANCE_SECONDS = 300;

/** A plugin of its own, because here the body stays the very bytes that were signed. */
export async function webhookRoute(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/v1/stripe/webhook', { schema: { hide: true } }, async (request, reply) => {
    const provider = requireProvider(deps.provider);
    const event = verify(provider, request.body, request.headers['stripe-signature']);
    await handleEvent(deps, provider, event);
    return reply.send({ received: true });
  });
}

function verify({ stripe, webhookSecrets }: Provider, body: unknown, signature: unknown): Stripe.Event {
  if (!Buffer.isBuffer(body) || typeof signature !== 'string') throw invalidRequest('no signature');
  for (const secret of webhookSecrets) {
    try {
      return stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_SECONDS);
    } catch {
      // Another secret may be the one; whoever has none of them is told nothing more.
    }
  }
  throw new Failure('invalid_request', { message: 'invalid request: the signature is not valid' });
}
