/** Random choices that a seed decides. */
import { seeded } from '../test/support/seeded.ts';

export class Random {
  readonly #seed: number;
  readonly #next: () => number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#next = seeded(this.#seed);
  }

  /** Another source, which this name and the seed decide, and nothing that was drawn before. */
  fork(name: string): Random {
    let hash = this.#seed ^ 0x811c9dc5;
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    return new Random(hash);
  }

  /** From 0 to 1, without 1. */
  number(): number {
    return this.#next();
  }

  /** A whole number, `max` included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.#next() * (max - min + 1));
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  pick<T>(all: readonly T[]): T {
    return all[this.integer(0, all.length - 1)]!;
  }

  /** The names of a table of weights: each as often as its weight says. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
    const entries = Object.entries<number>(weights) as [N, number][];
    let left = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.at(-1)![0];
  }

  /** With this mean, as of events that happen independently of each other, at most five times as long. */
  wait(mean: number): number {
    return Math.min(-Math.log(1 - this.#next()), 5) * mean;
  }
}
