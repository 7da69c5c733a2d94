/** The wait after a failure: exponential with full jitter, without a limit on attempts. */
const FIRST_MS = 500;
const LONGEST_MS = 60_000;

export class Backoff {
  readonly #random: () => number;
  readonly #longestMs: number;
  #failures = 0;

  constructor(random: () => number, longestMs = LONGEST_MS) {
    this.#random = random;
    this.#longestMs = longestMs;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Count a failure. Returns the wait in milliseconds, at least `atLeastMs`. */
  next(atLeastMs = 0): number {
    const ceilingMs = Math.min(this.#longestMs, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    return Math.max(atLeastMs, Math.round(this.#random() * ceilingMs));
  }

  reset(): void {
    this.#failures = 0;
  }
}
