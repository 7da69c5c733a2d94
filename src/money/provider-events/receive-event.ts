/** Reads a delivered provider event, whose signature was verified. Source: specification 4.13. */
import type Stripe from 'stripe';
import type { Provider } from '../payments/provider.ts';
import { readEnvelope } from './event-shape.ts';
import { handleEvent, type ProviderEventDeps } from './handle-event.ts';

/** Returns false if the body is not an event: not JSON, or without an id. */
export async function receiveEvent(
  deps: ProviderEventDeps,
  provider: Provider,
  body: Buffer,
): Promise<boolean> {
  const event = parseJson(body);
  if (!readEnvelope(event)) return false;
  await handleEvent(deps, provider, event as Stripe.Event);
  return true;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
