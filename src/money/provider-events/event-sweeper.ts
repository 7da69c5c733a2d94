/**
 * Sweeps the provider's events, and keeps automatic top-ups waiting until the first sweep.
 *
 * The database may have been restored to an older state, without payments that were made since. The first
 * sweep finds them; an automatic top-up before it could charge the card for credit that was paid already.
 */
import type { Provider } from '../payments/provider.ts';
import { runDueTopUps } from '../top-ups/run-top-up.ts';
import { applyMissedEvents } from './apply-missed-events.ts';
import type { ProviderEventDeps } from './handle-event.ts';

/** Until the first sweep has succeeded. */
const RETRY_MS = 5_000;

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
