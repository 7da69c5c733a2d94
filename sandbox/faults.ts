/**
 * Requested faults: each applies to the first `count` calls or events that match it.
 * There is no randomness, so a test gets exactly the fault that it requested.
 */

const API_EFFECTS = [
  'commit_then_timeout',
  'commit_then_reset',
  'commit_then_500',
  'fail_500',
  'keep_500',
  'rate_limit_429',
  'slow',
  'truncate_body',
  'webhook_first',
] as const;

const WEBHOOK_EFFECTS = ['repeat', 'reorder', 'drop', 'corrupt_signature', 'delay'] as const;

type ApiEffect = (typeof API_EFFECTS)[number];
type WebhookEffect = (typeof WEBHOOK_EFFECTS)[number];

/** A fault for an API call. `ms` is for `slow` and `commit_then_timeout`. */
export interface ApiFault {
  readonly effect: ApiEffect;
  /** POST, GET or DELETE. Default: any. */
  readonly method?: string;
  /** A path such as `/v1/payment_intents`; `*` matches anything. Default: any path. */
  readonly path?: string;
  /** How many calls it affects. Default 1. */
  readonly count?: number;
  /** How many matching calls pass first. Default 0. */
  readonly skip?: number;
  readonly ms?: number;
}

/** A fault for the delivery of an event. `times` is for `repeat`, `ms` for `delay`. */
export interface WebhookFault {
  readonly effect: WebhookEffect;
  /** An event type; `*` matches anything. Default: any event. */
  readonly event?: string;
  readonly count?: number;
  readonly skip?: number;
  readonly times?: number;
  readonly ms?: number;
}

export type Fault = ApiFault | WebhookFault;

export type ActiveFault = Required<Omit<ApiFault, 'effect'>> & { readonly effect: ApiEffect };
export type ActiveWebhookFault = Required<Omit<WebhookFault, 'effect'>> & { readonly effect: WebhookEffect };

const TIMEOUT_MS = 30_000;
const WAIT_MS = 1_000;

export class Faults {
  #queue: Array<ActiveFault | ActiveWebhookFault> = [];

  /** Queue a fault. Throws a RangeError that says what is wrong with it. */
  add(fault: Fault): void {
    this.#queue.push(isApiFault(fault) ? completeApiFault(fault) : completeWebhookFault(fault));
  }

  /** The faults that have not been used up. */
  waiting(): ReadonlyArray<ActiveFault | ActiveWebhookFault> {
    return this.#queue;
  }

  clear(): void {
    this.#queue = [];
  }

  takeApi(method: string, path: string): ActiveFault | undefined {
    return this.#take(
      (fault): fault is ActiveFault =>
        isApiFault(fault) && (fault.method === '*' || fault.method === method) && matches(fault.path, path),
    );
  }

  takeWebhook(type: string): ActiveWebhookFault | undefined {
    return this.#take(
      (fault): fault is ActiveWebhookFault => !isApiFault(fault) && matches(fault.event, type),
    );
  }

  #take<T extends ActiveFault | ActiveWebhookFault>(
    wanted: (fault: ActiveFault | ActiveWebhookFault) => fault is T,
  ): T | undefined {
    const fault = this.#queue.find(wanted);
    if (fault === undefined) return undefined;
    if (fault.skip > 0) {
      this.#queue = this.#queue.map((other) =>
        other === fault ? { ...other, skip: other.skip - 1 } : other,
      );
      return undefined;
    }
    this.#queue = this.#queue.flatMap((other) => {
      if (other !== fault) return [other];
      return other.count > 1 ? [{ ...other, count: other.count - 1 }] : [];
    });
    return fault;
  }
}

function isApiFault<A extends { effect: ApiEffect }, W extends { effect: WebhookEffect }>(
  fault: A | W,
): fault is A {
  return (API_EFFECTS as readonly string[]).includes(fault.effect);
}

function completeApiFault(fault: ApiFault): ActiveFault {
  const ms = fault.effect === 'commit_then_timeout' ? TIMEOUT_MS : WAIT_MS;
  return {
    effect: fault.effect,
    method: pattern('method', fault.method),
    path: pattern('path', fault.path),
    count: whole('count', fault.count, 1, 1),
    skip: whole('skip', fault.skip, 0, 0),
    ms: whole('ms', fault.ms, ms, 0),
  };
}

function completeWebhookFault(fault: WebhookFault): ActiveWebhookFault {
  if (!WEBHOOK_EFFECTS.includes(fault.effect)) {
    throw new RangeError(`effect must be one of ${[...API_EFFECTS, ...WEBHOOK_EFFECTS].join(', ')}`);
  }
  return {
    effect: fault.effect,
    event: pattern('event', fault.event),
    count: whole('count', fault.count, 1, 1),
    skip: whole('skip', fault.skip, 0, 0),
    times: whole('times', fault.times, 2, 1),
    ms: whole('ms', fault.ms, WAIT_MS, 0),
  };
}

function pattern(name: string, value: unknown): string {
  if (value === undefined) return '*';
  if (typeof value !== 'string') throw new RangeError(`${name} must be text`);
  return value;
}

function whole(name: string, value: unknown, otherwise: number, min: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min) {
    throw new RangeError(`${name} must be a whole number of at least ${min}`);
  }
  return value;
}

function matches(wanted: string, actual: string): boolean {
  const [start, ...rest] = wanted.split('*');
  if (rest.length === 0) return wanted === actual;
  const end = rest.at(-1) ?? '';
  let position = start?.length ?? 0;
  if (!actual.startsWith(start ?? '') || actual.length < position + end.length || !actual.endsWith(end))
    return false;
  for (const part of rest.slice(0, -1)) {
    const found = actual.indexOf(part, position);
    if (found === -1 || found + part.length > actual.length - end.length) return false;
    position = found + part.length;
  }
  return true;
}
