/**
 * Gathers questions to the database: while a statement is under way, those that come wait, and go together in
 * the next one. A question that comes alone is sent at once.
 *
 * Under load, most of the cost of a small statement is its round trip and its commit. Nothing is cached: a
 * statement is sent after the last of its questions was asked.
 */
import { isLockTimeout, isRefusal } from './transaction.ts';

export interface GatherOptions<In> {
  /** Questions in a statement; default: all that wait. */
  readonly max?: number;
  /** Two questions with the same name never share a statement. */
  readonly nameOf?: (input: In) => string;
  /** Only questions of the same group share a statement; default: all may. */
  readonly groupOf?: (input: In) => unknown;
  /** Statements under way; default: 2, so that the database works on the next while it commits the last. */
  readonly statements?: number;
}

const STATEMENTS_DEFAULT = 2;
/** A statement that takes longer no longer keeps others back: it may wait for a lock, or its connection is lost. */
const SLOW_MS = 100;

interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

export class Gather<In, Out> {
  readonly #answer: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #options: GatherOptions<In>;
  #waiting: Waiting<In, Out>[] = [];
  #underWay = 0;
  #isPlanned = false;

  /** `answer` returns one answer for each question, in order. */
  constructor(answer: (inputs: readonly In[]) => Promise<readonly Out[]>, options: GatherOptions<In> = {}) {
    this.#answer = answer;
    this.#options = options;
  }

  ask(input: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    this.#waiting.push({ input, resolve, reject });
    this.#plan();
    return promise;
  }

  /** Under load, a statement also takes what the rest of this turn of the event loop brings. */
  #plan(): void {
    const { statements = STATEMENTS_DEFAULT } = this.#options;
    if (this.#isPlanned || this.#waiting.length === 0 || this.#underWay >= statements) return;
    this.#isPlanned = true;
    const begin = () => {
      this.#isPlanned = false;
      void this.#run(this.#take());
      this.#plan();
    };
    if (this.#underWay === 0) queueMicrotask(begin);
    else setImmediate(begin);
  }

  /** The questions that have waited longest. */
  #take(): Waiting<In, Out>[] {
    const { max = Number.POSITIVE_INFINITY, nameOf, groupOf } = this.#options;
    if (!nameOf && !groupOf) return this.#waiting.splice(0, max);
    const names = new Set<string>();
    const group = groupOf?.(this.#waiting[0]!.input);
    const taken: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    for (const item of this.#waiting) {
      const name = nameOf?.(item.input);
      const isTwin = name !== undefined && names.has(name);
      const fits = taken.length < max && !isTwin && groupOf?.(item.input) === group;
      if (fits && name !== undefined) names.add(name);
      (fits ? taken : left).push(item);
    }
    this.#waiting = left;
    return taken;
  }

  async #run(group: readonly Waiting<In, Out>[]): Promise<void> {
    const release = this.#hold();
    try {
      const answers = await this.#answer(group.map(({ input }) => input));
      for (const [at, { resolve }] of group.entries()) resolve(answers[at]!);
    } catch (error) {
      // Nothing was stored. One question may be at fault, or need what is locked, so each is asked again alone.
      if (group.length > 1 && (isRefusal(error) || isLockTimeout(error)))
        await Promise.all(group.map((item) => this.#run([item])));
      else for (const { reject } of group) reject(error);
    } finally {
      release();
    }
  }

  /** Counts a statement until it ends or is slow. */
  #hold(): () => void {
    let isHeld = true;
    this.#underWay += 1;
    const release = () => {
      clearTimeout(timer);
      if (!isHeld) return;
      isHeld = false;
      this.#underWay -= 1;
      this.#plan();
    };
    const timer = setTimeout(release, SLOW_MS);
    return release;
  }
}
