/** Remembers which numbers have come. Those far behind the newest count as come. */
const WINDOW = 1024;

export class ReplayWindow {
  readonly #seen = new Set<number>();
  #newest = -1;

  /** Returns false if the number has come before. */
  take(number: number): boolean {
    if (number <= this.#newest - WINDOW || this.#seen.has(number)) return false;
    this.#seen.add(number);
    this.#newest = Math.max(this.#newest, number);
    if (this.#seen.size > 2 * WINDOW) {
      for (const each of this.#seen) if (each <= this.#newest - WINDOW) this.#seen.delete(each);
    }
    return true;
  }
}
