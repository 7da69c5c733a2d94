/**
 * Sweeps the provider's events: reads the provider's list and applies those that were not delivered.
 *
 * The provider stops delivering an event after some days, and a delivery can be lost; the list keeps
 * events for a month. A swept event is handled like a delivered one.
 *
 * The sweeper's place is the time of the newest event that it has read, by the clock that the list is
 * filtered by: the provider's. A process whose clock is ahead would otherwise skip what comes next.
 */
import type Stripe from 'stripe';
import type { Provider } from '../payments/provider.ts';
import { runDueTopUps } from '../top-ups/run-top-up.ts';
import { EVENT_TYPES, handleEvent, type ProviderEventDeps } from './handle-event.ts';
import { DEFAULT_FAILURE_LIMITS, type FailureLimits, noteFailedEvent } from './note-failed-event.ts';
import { findHandledEvents, findSweepStart, updateSweptUntil } from './provider-events.sql.ts';

/** Each sweep overlaps the one before: the list may lag, and an event may fail at first. */
const OVERLAP_SECONDS = 600;

/** How far back the first sweep looks. */
export const FIRST_SWEEP_SECONDS = 7 * 86_400;

/** Until the first sweep has succeeded. */
const RETRY_MS = 5_000;

/**
 * Keeps automatic top-ups waiting until the first sweep.
 *
 * The database may have been restored to an older state, without payments that were made since. The first
 * sweep finds them; an automatic top-up before it could charge the card for credit that was paid already.
 */
export class EventSweeper {
  readonly #deps: ProviderEventDeps;
  readonly #provider: Provider;
  #hasSwept = false;

  constructor(deps: ProviderEventDeps, provider: Provider) {
    this.#deps = deps;
    this.#provider = provider;
  }

  async sweep(soon: (ms: number) => void): Promise<void> {
    try {
      await applyMissedEvents(this.#deps, this.#provider);
      this.#hasSwept = true;
    } catch (error) {
      if (!this.#hasSwept) soon(RETRY_MS);
      throw error;
    }
  }

  async runTopUps(): Promise<void> {
    if (this.#hasSwept) await runDueTopUps(this.#deps, this.#provider);
  }
}

/** Apply the provider events that were not delivered. Returns how many were applied. */
export async function applyMissedEvents(
  deps: ProviderEventDeps,
  provider: Provider,
  limits: FailureLimits = DEFAULT_FAILURE_LIMITS,
): Promise<number> {
  const since = await findSweepStart(deps.db, {
    overlapSeconds: OVERLAP_SECONDS,
    firstSeconds: FIRST_SWEEP_SECONDS,
  });
  const listed = await listEvents(provider, Math.floor(since.getTime() / 1000));
  const handled = await findHandledEvents(
    deps.db,
    listed.map((event) => event.id),
  );
  const missed = listed.filter((event) => !handled.has(event.id));

  let applied = 0;
  let failing = 0;
  for (const event of missed) {
    try {
      await handleEvent(deps, provider, event);
      applied += 1;
    } catch (error) {
      if ((await noteFailedEvent(deps, event, error, limits)) === 'failing') failing += 1;
    }
  }
  // While an event fails, the next sweep starts at the same place.
  if (failing === 0) await updateSweptUntil(deps.db, newestOf(listed) ?? since);
  if (applied > 0) deps.log.warn({ found: applied }, 'undelivered provider events were applied');
  return applied;
}

/** Oldest first, though the order must not matter. */
async function listEvents({ stripe }: Provider, since: number): Promise<Stripe.Event[]> {
  const events: Stripe.Event[] = [];
  for await (const event of stripe.events.list({
    types: [...EVENT_TYPES],
    created: { gte: since },
    limit: 100,
  })) {
    events.push(event);
  }
  return events.reverse();
}

function newestOf(events: readonly Stripe.Event[]): Date | undefined {
  const created = events.reduce((newest, event) => Math.max(newest, event.created), 0);
  return created > 0 ? new Date(created * 1000) : undefined;
}
