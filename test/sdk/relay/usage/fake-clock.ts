/** A clock that only advances when a test moves it. */
import type { Clock } from '../../../../sdk/typescript/src/relay/usage/clock.ts';

export class FakeClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  #now = 1_000;
  #wall = Date.parse('2026-03-01T12:00:00Z');

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#wall;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advance time and run everything that becomes due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#pass(due.at - this.#now);
      due.callback();
    }
    this.#pass(end - this.#now);
  }

  /** Milliseconds until each active timer, soonest first. */
  get timers(): number[] {
    return [...this.#timers].map((timer) => timer.at - this.#now).sort((a, b) => a - b);
  }

  /** The wall clock is set. */
  setWall(ms: number): void {
    this.#wall = ms;
  }

  /** The monotonic clock itself jumps, as after a migration of a virtual machine. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #pass(ms: number): void {
    this.#now += Math.max(0, ms);
    this.#wall += Math.max(0, ms);
  }
}
