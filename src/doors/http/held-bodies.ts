/**
 * Bounds the memory of large bodies that arrive or wait to be parsed. Ten thousand connections with a body each would
 * take more than the process has, and anyone may send one before a key is asked for.
 */
export class HeldBodies<Owner> {
  readonly #max: number;
  #all = 0;
  #ofStrangers = 0;
  readonly #ofOwners = new Map<Owner, number>();

  /** `max`: bytes of all. Strangers have half of them together, and one owner half of what it shares with others. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Count a body until the returned function is called; calling it again does nothing. `undefined`: it is too much. */
  hold(owner: Owner, bytes: number, isStranger: boolean): (() => void) | undefined {
    const max = isStranger ? this.#max / 2 : this.#max;
    const shared = isStranger ? this.#ofStrangers : this.#all;
    const own = this.#ofOwners.get(owner) ?? 0;
    const isTooMuch = this.#all + bytes > this.#max || shared + bytes > max || own + bytes > max / 2;
    if (isTooMuch) return undefined;
    this.#count(owner, bytes, isStranger);
    let isHeld = true;
    return () => {
      if (isHeld) this.#count(owner, -bytes, isStranger);
      isHeld = false;
    };
  }

  #count(owner: Owner, change: number, isStranger: boolean): void {
    this.#all += change;
    if (isStranger) this.#ofStrangers += change;
    const own = (this.#ofOwners.get(owner) ?? 0) + change;
    if (own > 0) this.#ofOwners.set(owner, own);
    else this.#ofOwners.delete(owner);
  }
}
