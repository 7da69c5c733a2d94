/**
 * Divides long work on the main thread into slices: one slice in each turn of the event loop, so that other
 * requests are served between any two of them.
 *
 * Work that has begun is done to its end before other work begins: results are ready one after the other, and
 * not all at the end. Owners take turns, so that the work of one waits for one work of another, not for all. Strangers,
 * of whom anyone can make a thousand, have together every second turn.
 */

interface Work {
  /** Returns whether that was the last slice. */
  readonly doSlice: () => boolean;
}

export class Turns<Owner> {
  /** The first owner of each is next. */
  readonly #known = new Map<Owner, Work[]>();
  readonly #strangers = new Map<Owner, Work[]>();
  /** Those whose turn it is. */
  #current = this.#known;

  /** Do `work` to its end, and return its result. A slice ends with each `yield`. */
  run<T>(owner: Owner, work: Generator<unknown, T>, isStranger = false): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const doSlice = () => {
      try {
        const { done, value } = work.next();
        if (done) resolve(value);
        return done ?? false;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    const waiting = isStranger ? this.#strangers : this.#known;
    if (this.#isIdle()) {
      this.#current = waiting;
      setImmediate(() => this.#turn());
    }
    const own = waiting.get(owner);
    if (own) own.push({ doSlice });
    else waiting.set(owner, [{ doSlice }]);
    return promise;
  }

  #turn(): void {
    const waiting = this.#current;
    const [owner, own] = waiting.entries().next().value!;
    if (own[0]!.doSlice()) {
      own.shift();
      waiting.delete(owner);
      if (own.length > 0) waiting.set(owner, own);
      const others = waiting === this.#known ? this.#strangers : this.#known;
      if (others.size > 0) this.#current = others;
    }
    if (!this.#isIdle()) setImmediate(() => this.#turn());
  }

  #isIdle(): boolean {
    return this.#known.size + this.#strangers.size === 0;
  }
}
