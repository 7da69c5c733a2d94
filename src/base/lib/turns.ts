/**
 * Divides long work on the main thread into slices: one slice in each turn of the event loop, so that other
 * requests are served between any two of them.
 *
 * Work that has begun is done to its end before other work begins: results are ready one after the other, and
 * not all at the end. Owners take turns, so that the work of one waits for one work of another, not for all.
 */

interface Work {
  /** Returns whether that was the last slice. */
  readonly doSlice: () => boolean;
}

export class Turns<Owner> {
  /** The first owner is next. */
  readonly #waiting = new Map<Owner, Work[]>();

  /** Do `work` to its end, and return its result. A slice ends with each `yield`. */
  run<T>(owner: Owner, work: Generator<unknown, T>): Promise<T> {
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
    if (this.#waiting.size === 0) setImmediate(() => this.#turn());
    const own = this.#waiting.get(owner);
    if (own) own.push({ doSlice });
    else this.#waiting.set(owner, [{ doSlice }]);
    return promise;
  }

  #turn(): void {
    const [owner, own] = this.#waiting.entries().next().value!;
    if (own[0]!.doSlice()) {
      own.shift();
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#turn());
  }
}
