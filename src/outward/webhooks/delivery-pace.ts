/** Spaces the requests to a webhook that wants only so many in a second. */

/** A timer comes late by some milliseconds. So much of that is made up for. */
const CATCH_UP_MS = 20;

export class DeliveryPace {
  readonly #spaceMs: number;
  #nextAt: number;

  /**
   * The first request keeps its distance from the last one of the turn before, which ended `idleSeconds` ago at the
   * earliest; `null`: there was none.
   */
  constructor(maxPerSecond: number | null, idleSeconds: number | null) {
    this.#spaceMs = maxPerSecond === null ? 0 : 1_000 / maxPerSecond;
    const idleMs = idleSeconds === null ? Number.POSITIVE_INFINITY : Math.max(0, idleSeconds * 1_000);
    this.#nextAt = performance.now() + Math.max(0, this.#spaceMs - idleMs);
  }

  /** Until the next request may begin; 0: it may now. */
  waitMs(): number {
    return Math.max(0, this.#nextAt - performance.now());
  }

  /** One begins now. */
  begin(): void {
    this.#nextAt = Math.max(this.#nextAt, performance.now() - CATCH_UP_MS) + this.#spaceMs;
  }
}
