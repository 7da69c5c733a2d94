/** Adds whole numbers exactly. */

/** A sum of safe integers, which may itself be none. As `bigint` from the start, adding costs ten times as much. */
export class Total {
  #safe = 0;
  #rest = 0n;

  add(value: number): void {
    if (this.#safe + value > Number.MAX_SAFE_INTEGER) {
      this.#rest += BigInt(this.#safe);
      this.#safe = 0;
    }
    this.#safe += value;
  }

  /** A text is a whole number that is not safe. */
  addWhole(value: number | string): this {
    if (typeof value === 'number') this.add(value);
    else this.#rest += BigInt(value);
    return this;
  }

  value(): bigint {
    return this.#rest + BigInt(this.#safe);
  }
}
