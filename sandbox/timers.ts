/** Timers, all of which stop when the sandbox does. */
export class Timers {
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;

  after(ms: number, work: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }

  every(ms: number, work: () => void): void {
    if (!this.#stopped) this.#timers.add(setInterval(work, ms));
  }

  stop(): void {
    this.#stopped = true;
    // clearTimeout also clears intervals.
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
