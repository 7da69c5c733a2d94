/**
 * Read the provider's list of events and apply those that were not delivered.
 *
 * The provider stops delivering an event after some days, and a delivery can be lost; the list keeps
 * events for a month. A swept event is handled like a delivered one.
 */
import type Stripe from 'stripe';
import type { BaseDeps } from '../../base/deps.ts';
import { EVENT_TYPES, handleEvent } from './handle-event.ts';
import type { Provider } from './provider.ts';
import { findHandledEvents, findSweptUntil, updateSweptUntil } from './provider-events.sql.ts';

/** Each sweep overlaps the one before: the list may lag, and an event may fail at first. */
const OVERLAP_SECONDS = 600;

/** How far back the first sweep looks. */
const FIRST_SWEEP_SECONDS = 7 * 86_400;

/** Apply the provider events that were not delivered. Returns how many were applied. */
export async function sweepEvents(deps: BaseDeps, provider: Provider): Promise<number> {
  const startedAt = new Date();
  const sweptUntil = await findSweptUntil(deps.db);
  const since = sweptUntil
    ? sweptUntil.getTime() / 1000 - OVERLAP_SECONDS
    : startedAt.getTime() / 1000 - FIRST_SWEEP_SECONDS;

  const missed = await listMissed(deps, provider, Math.floor(since));
  let failed = 0;
  for (const event of missed) {
    try {
      await handleEvent(deps, provider, event);
    } catch (error) {
      failed += 1;
      deps.log.error({ err: error, event: event.id }, 'a swept provider event could not be applied');
    }
  }
  // After a failure, the next sweep starts at the same place.
  if (failed === 0) await updateSweptUntil(deps.db, startedAt);
  const applied = missed.length - failed;
  if (applied > 0) deps.log.warn({ found: applied }, 'undelivered provider events were applied');
  return applied;
}

/** Oldest first, though the order must not matter. */
async function listMissed(deps: BaseDeps, { stripe }: Provider, since: number): Promise<Stripe.Event[]> {
  const events: Stripe.Event[] = [];
  for await (const event of stripe.events.list({
    types: [...EVENT_TYPES],
    created: { gte: since },
    limit: 100,
  })) {
    events.push(event);
  }
  const handled = await findHandledEvents(
    deps.db,
    events.map((event) => event.id),
  );
  return events.filter((event) => !handled.has(event.id)).reverse();
}
