/**
 * The background work of payments: automatic top-ups that are due, and notifications that were missed.
 *
 * What is due is a row in the database. This loop only looks for such rows, so any number of
 * processes may run it, and one that dies loses nothing.
 */

import type { BaseDeps } from '../../base/deps.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import type { Provider } from './provider.ts';
import { runDueTopUp } from './run-top-up.ts';
import { sweepEvents } from './sweep-events.ts';

const TOP_UPS_EVERY_SECONDS = 1;
const SWEEP_EVERY_SECONDS = 120;

/** How many top-ups one process has under way at once; the provider allows 25 calls a second. */
const TOP_UPS_AT_ONCE = 4;

export interface PaymentsWorker {
  readonly wakeTopUps: () => void;
  stop(): Promise<void>;
}

export function startPaymentsWorker(deps: BaseDeps, provider: Provider): PaymentsWorker {
  const report = (what: string) => (error: unknown) => deps.log.error({ err: error }, what);

  // Each lane turns by itself, so that a call that hangs holds up no other tenant.
  const lanes = Array.from({ length: TOP_UPS_AT_ONCE }, () =>
    repeat(TOP_UPS_EVERY_SECONDS, () => runAllDue(deps, provider), report('top-up worker failed')),
  );
  const sweeper: Repeating = repeat(
    SWEEP_EVERY_SECONDS,
    async () => {
      const found = await sweepEvents(deps, provider);
      if (found > 0) deps.log.warn({ found }, 'notifications had been missed and were applied');
    },
    report('sweeping notifications failed'),
  );
  return {
    wakeTopUps: () => {
      for (const lane of lanes) lane.wake();
    },
    stop: async () => {
      await Promise.all([...lanes.map((lane) => lane.stop()), sweeper.stop()]);
    },
  };
}

async function runAllDue(deps: BaseDeps, provider: Provider): Promise<void> {
  while (await runDueTopUp(deps, provider));
}
