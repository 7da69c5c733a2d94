/**
 * Read the provider's own list of notifications and apply those that never reached us.
 *
 * The provider stops delivering after some days, and a notification can be lost on the way; its list
 * keeps them for a month. Each goes through the same door as one that was delivered.
 */
import type Stripe from 'stripe';
import type { BaseDeps } from '../../base/deps.ts';
import { EVENT_TYPES, handleEvent } from './handle-event.ts';
import type { Provider } from './provider.ts';
import { findHandledEvents, findSweptUntil, updateSweptUntil } from './provider-events.sql.ts';

/** Read again what is this old: lists may lag behind, and an event may fail at first. */
const OVERLAP_SECONDS = 600;

/** How far back the very first sweep looks. */
const FIRST_SWEEP_SECONDS = 7 * 86_400;

/** Apply the notifications that were not delivered; returns how many there were. */
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
      deps.log.error({ err: error, event: event.id }, 'a swept notification could not be applied');
    }
  }
  // The place moves on only when nothing was left behind it.
  if (failed === 0) await updateSweptUntil(deps.db, startedAt);
  const applied = missed.length - failed;
  if (applied > 0) deps.log.warn({ found: applied }, 'notifications had been missed and were applied');
  return applied;
}

/** Oldest first, though order must not matter. */
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
