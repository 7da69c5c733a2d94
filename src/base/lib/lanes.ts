/** Runs work with a limit on how much runs at the same time. */

export class Lanes {
  readonly #lanes: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(lanes: number) {
    this.#lanes = lanes;
    this.#free = lanes;
  }

  get running(): number {
    return this.#lanes - this.#free;
  }

  /** Run `work` in a free lane, in the order of the calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
