/** A client of the SDK under test, inside its driver. */
import { type Driver, type Json, type Operation, type Outcome, outcomeOf } from './driver.ts';

export interface CallOptions {
  readonly timeout_ms?: number;
  readonly idempotency_key?: string;
}

export class Client {
  readonly #driver: Driver;
  readonly #name: string;

  constructor(driver: Driver, name: string) {
    this.#driver = driver;
    this.#name = name;
  }

  /** Start a call without waiting for it. */
  start(method: string, request: object = {}, options: CallOptions = {}): Call {
    const fields = { op: 'call', client: this.#name, method, request, options };
    return new Call(this.#driver, this.#driver.start(fields));
  }

  /** What comes of a call. */
  async call(method: string, request: object = {}, options: CallOptions = {}): Promise<Outcome> {
    return await this.start(method, request, options).outcome();
  }

  /** The pages of a list. */
  pages(method: string, request: object = {}): Pages {
    const fields = { op: 'pages', client: this.#name, method, request };
    return new Pages(this.#driver, this.#driver.start(fields));
  }

  /** All pages of a list in one array, as the answer. */
  async list(method: string, request: object = {}): Promise<Outcome> {
    const pages = this.pages(method, request);
    const items: Json[] = [];
    for (;;) {
      const { page, error } = await pages.next();
      if (error !== undefined) return { error };
      if (page === undefined) return { ok: items };
      items.push(...page);
    }
  }

  /** Follow events. Cancel it when the step has what it wants. */
  watch(method: string, request: object = {}, options: { silent_ms?: number } = {}): Watch {
    const fields = { op: 'watch', client: this.#name, method, request, options };
    return new Watch(this.#driver, this.#driver.start(fields));
  }

  async close(): Promise<Outcome> {
    return await this.#driver.ask({ op: 'close', client: this.#name });
  }
}

/** An operation that can be cancelled. */
class Running {
  protected readonly driver: Driver;
  protected readonly operation: Operation;

  constructor(driver: Driver, operation: Operation) {
    this.driver = driver;
    this.operation = operation;
  }

  cancel(): void {
    this.driver.tell({ op: 'cancel', target: this.operation.id });
  }
}

export class Call extends Running {
  async outcome(): Promise<Outcome> {
    return outcomeOf(await this.operation.next());
  }
}

export class Pages extends Running {
  #isFirst = true;

  /** The next page; without `page`, the list has ended, well or with an error. */
  async next(): Promise<{ page?: Json[]; error?: Json }> {
    if (!this.#isFirst) this.driver.tell({ op: 'next', target: this.operation.id });
    this.#isFirst = false;
    const { page, error } = await this.operation.next();
    // Some languages have no empty list.
    return { ...(page !== undefined && { page: page ?? [] }), ...(error !== undefined && { error }) };
  }
}

export class Watch extends Running {
  /** The next event, or the error that ended the stream. */
  async next(timeoutMs?: number): Promise<{ event?: Json; error?: Json }> {
    const { event, error } = await this.operation.next(timeoutMs);
    return event === undefined ? { error: error ?? { kind: 'StreamEnded' } } : { event };
  }

  /** All events up to the first that is wanted, included. Throws if the stream ends before. */
  async until(isWanted: (event: Json) => boolean): Promise<Json[]> {
    const events: Json[] = [];
    for (;;) {
      const { event, error } = await this.next();
      if (event === undefined) throw new Error(`the stream ended: ${JSON.stringify(error)}`);
      events.push(event);
      if (isWanted(event)) return events;
    }
  }

  /** Cancel it, and return what it ends with. Events that are still under way are dropped. */
  async end(): Promise<Outcome> {
    this.cancel();
    for (;;) {
      const { error } = await this.next(5_000);
      if (error !== undefined) return { error };
    }
  }
}
