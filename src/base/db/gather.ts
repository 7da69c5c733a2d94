/**
 * Gathers questions to the database: while a statement is under way, those that come wait, and go together in
 * the next one. A question that comes alone is sent at once.
 *
 * Under load, most of the cost of a small statement is its round trip and its commit. Nothing is cached: a
 * statement is sent after the last of its questions was asked.
 *
 * The questions of a statement that fails, because it waited for a lock or one of them is at fault, are asked again in the
 * lane, where one statement at a time runs: so locks that last hold one connection. There, the keys of the statement are parted, again
 * and again, until the one that is locked or at fault is alone. Later questions of a key in the lane join it, and leave with it once it was
 * answered, unless it was locked alone. While its lock lasts, the others in the lane have their turns in between, until a second after
 * a question came.
 */
import { Lane } from './lane.ts';
import { isLockTimeout, isRefusal } from './transaction.ts';

export interface GatherOptions<In> {
  /** Questions in a statement; default: all that wait. */
  readonly max?: number;
  /** Two questions with the same name never share a statement. It is their key, too. */
  readonly nameOf?: (input: In) => string;
  /** What a question may wait for. Those with the same key are asked again together; default: each question alone. */
  readonly keyOf?: (input: In) => string;
  /** Only questions of the same group share a statement; default: all may. */
  readonly groupOf?: (input: In) => unknown;
  /** Statements under way; default: 2, so that the database works on the next while it commits the last. */
  readonly statements?: number;
  /** Where questions are asked again. Those of one pool should share it; default: one of its own. */
  readonly lane?: Lane;
}

const STATEMENTS_DEFAULT = 2;
/** A statement that takes longer no longer keeps others back: it may wait for a lock, or its connection is lost. */
const SLOW_MS = 100;
/** The keys of a statement that failed are asked again in so many parts. So one of 512 is found in three steps. */
const PARTS = 8;
/** A question that waits for a lock fails after so long. */
const LOCKED_MS = 1_000;
/** For so long after that, the next question of its key goes into the lane at once. */
const REMEMBERED_MS = 10_000;

interface Waiting<In, Out> {
  readonly input: In;
  /** When it was asked, in ms of `performance.now()`. */
  readonly since: number;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

interface Again<In, Out> {
  readonly items: Waiting<In, Out>[];
  isInLane: boolean;
  /** A statement of this key alone waited for a lock. */
  wasLocked: boolean;
}

export class Gather<In, Out> {
  readonly #answer: (inputs: readonly In[]) => Promise<readonly Out[]>;
  readonly #options: GatherOptions<In>;
  readonly #lane: Lane;
  /** What is asked again, by key. */
  readonly #again = new Map<unknown, Again<In, Out>>();
  #waiting: Waiting<In, Out>[] = [];
  #underWay = 0;
  #isPlanned = false;

  /** `answer` returns one answer for each question, in order. */
  constructor(answer: (inputs: readonly In[]) => Promise<readonly Out[]>, options: GatherOptions<In> = {}) {
    this.#answer = answer;
    this.#options = options;
    this.#lane = options.lane ?? new Lane();
  }

  ask(input: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    const item = { input, since: performance.now(), resolve, reject };
    if (this.#again.size > 0 && this.#again.has(this.#keyOf(item))) this.#askAgain([item]);
    else this.#waiting.push(item);
    this.#plan();
    return promise;
  }

  #keyOf(item: Waiting<In, Out>): unknown {
    const { nameOf, keyOf = nameOf } = this.#options;
    return keyOf ? keyOf(item.input) : item;
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
    await this.#send(group, (error, tookMs) => {
      // Nothing was stored.
      if (isLockTimeout(error)) this.#askAgain(tookMs < LOCKED_MS ? group : failLocked(group, error));
      else if (group.length > 1 && isRefusal(error)) this.#askAgain(group);
      else for (const { reject } of group) reject(error);
    });
    release();
  }

  /** Does not fail. */
  async #send(
    group: readonly Waiting<In, Out>[],
    onError: (error: unknown, tookMs: number) => unknown,
  ): Promise<void> {
    const begun = performance.now();
    try {
      const answers = await this.#answer(group.map(({ input }) => input));
      for (const [at, { resolve }] of group.entries()) resolve(answers[at]!);
    } catch (error) {
      await onError(error, performance.now() - begun);
    }
  }

  #askAgain(group: readonly Waiting<In, Out>[]): void {
    const keys: unknown[] = [];
    for (const item of group) {
      const key = this.#keyOf(item);
      const again = this.#again.get(key) ?? { items: [], isInLane: false, wasLocked: false };
      this.#again.set(key, again);
      again.items.push(item);
      if (!again.isInLane) keys.push(key);
      again.isInLane = true;
    }
    this.#enterLane(keys);
  }

  #enterLane(keys: readonly unknown[]): void {
    const size = Math.ceil(keys.length / PARTS);
    for (let at = 0; at < keys.length; at += size) {
      const part = keys.slice(at, at + size);
      this.#lane.run(() => this.#runAgain(part));
    }
  }

  async #runAgain(keys: readonly unknown[]): Promise<void> {
    const { nameOf, max = Number.POSITIVE_INFINITY } = this.#options;
    const group: Waiting<In, Out>[] = [];
    for (const key of keys)
      group.push(...this.#again.get(key)!.items.splice(0, nameOf ? 1 : max - group.length));
    let error: unknown;
    await this.#send(group, async (thrown, tookMs) => {
      error = thrown;
      const mayEnd = keys.length === 1 || tookMs >= LOCKED_MS;
      if (isLockTimeout(error)) this.#putBack(mayEnd ? failLocked(group, error) : group);
      else if (!isRefusal(error) || group.length === 1) for (const { reject } of group) reject(error);
      else if (keys.length > 1) this.#putBack(group);
      else for (const item of group) await this.#send([item], item.reject);
    });
    const isLocked = isLockTimeout(error);
    if (isLocked && keys.length === 1) this.#again.get(keys[0])!.wasLocked = true;
    const left = keys.filter((key) => !this.#mayLeave(key, error === undefined));
    for (const key of keys) if (!left.includes(key)) this.#leaveLane(key, isLocked);
    this.#enterLane(left);
    this.#plan();
  }

  /** A key that only shared a statement with a locked one waits behind it until it is answered, and no longer. */
  #mayLeave(key: unknown, isAnswered: boolean): boolean {
    const { items, wasLocked } = this.#again.get(key)!;
    return items.length === 0 || (isAnswered && !wasLocked);
  }

  /** Before those that came meanwhile. */
  #putBack(group: readonly Waiting<In, Out>[]): void {
    for (const item of group.toReversed()) this.#again.get(this.#keyOf(item))!.items.unshift(item);
  }

  #leaveLane(key: unknown, isLocked: boolean): void {
    const again = this.#again.get(key)!;
    again.isInLane = false;
    this.#waiting.unshift(...again.items.splice(0));
    if (isLocked) this.#forgetLater(key, again);
    else this.#again.delete(key);
  }

  /** Until then, a question of a key that was locked does not hold up those of others again. */
  #forgetLater(key: unknown, again: Again<In, Out>): void {
    const forget = () => {
      if (!again.isInLane && this.#again.get(key) === again) this.#again.delete(key);
    };
    setTimeout(forget, REMEMBERED_MS).unref();
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

/** Fails those that have waited too long. Returns the others. */
function failLocked<Item extends Pick<Waiting<unknown, never>, 'since' | 'reject'>>(
  group: readonly Item[],
  cause: unknown,
): Item[] {
  const before = performance.now() - LOCKED_MS;
  for (const { since, reject } of group) if (since <= before) reject(cause);
  return group.filter(({ since }) => since > before);
}
