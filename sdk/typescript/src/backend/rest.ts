/** The REST interface: requests are retried if that is safe. */
import { randomUUID } from 'node:crypto';
import { attemptInTime, type CallOptions, type Limits, type MutationOptions } from './calls.ts';
import { ANSWER_BYTES_MAX } from './error-kinds.ts';
import { BoxofficeError, errorOfAnswer } from './errors.ts';
import { Listing } from './listing.ts';
import { AS_IS, INTEGERS, NAMES, type Operations, TIMES } from './rest-types.ts';

export interface RestOptions {
  readonly url: string;
  /** `undefined`: requests carry no key. */
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
  readonly limits: Limits;
}

type Name = keyof Operations;
type Part<N extends Name, P extends string> = P extends keyof Operations[N] ? Operations[N][P] : undefined;
/** The parameters of a request: path, query, and body. */
type Given<N extends Name> = Omit<Operations[N], 'answer'>;
export type AnswerOf<N extends Name> = Part<N, 'answer'>;
export type BodyOf<N extends Name> = NonNullable<Part<N, 'body'>>;
/** Lists that are read a page at a time. */
type ListName =
  `GET /v1/${'ledger' | 'grants' | 'payments' | 'sessions' | 'usage/records' | 'usage/conflicts' | `webhooks/{id}/${'deliveries' | 'dead-letters'}` | 'audit'}`;

/** Which page of a list. */
export interface PageRequest {
  /** How many at once: 1 to 1000; 0 is 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

/** What a query may hold. Arrays are joined with commas; an empty one is left out, like `undefined`. */
export type Query = Readonly<Record<string, string | number | bigint | Date | readonly string[] | undefined>>;

/** A `POST` without an idempotency key that may be repeated: it changes nothing, or what it reports has ids. */
const REPEATABLE_POSTS: ReadonlySet<Name> = new Set([
  'POST /v1/usage',
  'POST /v1/usage/lookup',
  'POST /v1/rates/simulate',
]);
/** There is no tenant yet whose key it could be, so it is never repeated. */
const SIGNUP: Name = 'POST /v1/signup';

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export class Rest {
  readonly #options: RestOptions;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  get limits(): Limits {
    return this.#options.limits;
  }

  /** One request and its answer. All attempts of a write have the same idempotency key, so it takes effect once. */
  async call<N extends Name>(name: N, given: Given<N>, options: MutationOptions = {}): Promise<AnswerOf<N>> {
    const { limits } = this.#options;
    const mayRetry = (error: BoxofficeError) => name !== SIGNUP && isTransient(error);
    const isWrite = !name.startsWith('GET ') && !REPEATABLE_POSTS.has(name) && name !== SIGNUP;
    const idempotencyKey = isWrite ? keyOf(options) : undefined;
    const { path = {}, query = {}, body } = given as Partial<Record<'path' | 'query' | 'body', object>>;
    const [method, pattern] = name.split(' ') as [string, string];
    const url = new URL(this.#options.url.replace(/\/+$/, '') + fill(pattern, path));
    for (const [key, value] of Object.entries(query)) url.searchParams.set(WIRE_NAMES[key] ?? key, value);
    const text = body && JSON.stringify(toWire(body));
    const attempt = (signal: AbortSignal) => this.#send({ method, url, body: text, idempotencyKey }, signal);
    return (await attemptInTime(attempt, { ...options, limits, mayRetry })) as AnswerOf<N>;
  }

  /** All items of a list, page by page. */
  list<N extends ListName, T>(
    name: N,
    itemsOf: (answer: AnswerOf<N>) => readonly T[],
    { pageSize, pageToken, ...filter }: PageRequest & Query,
    options?: CallOptions,
    path: object = {},
  ): Listing<T> {
    return new Listing(pageToken, async (cursor) => {
      const query = toQuery({ ...filter, limit: pageSize || undefined, cursor: cursor || undefined });
      const answer = await this.call(name, { path, query } as unknown as Given<N>, options);
      const { nextCursor = '' } = answer as AnswerOf<ListName>;
      return { items: itemsOf(answer), nextPageToken: nextCursor };
    });
  }

  async #send({ method, url, body, idempotencyKey }: Request, signal: AbortSignal): Promise<unknown> {
    const { apiKey } = this.#options;
    let answer: Response;
    let text: string | undefined;
    try {
      answer = await this.#options.fetch(url, {
        method,
        headers: {
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body }),
        // No redirects: the key must only be sent to the given host.
        redirect: 'manual',
        signal,
      });
      // An answer only counts if it is complete.
      text = await readUpTo(ANSWER_BYTES_MAX, answer);
    } catch (cause) {
      signal.throwIfAborted();
      const message = 'the service was not reached, or did not answer';
      throw new BoxofficeError({ kind: 'Unavailable', code: 'UNAVAILABLE', message, cause });
    }
    if (!answer.ok) throw errorOfAnswer(answer, text ?? '');
    if (text === undefined) {
      const message = 'the answer is too long';
      throw new BoxofficeError({ kind: 'Internal', code: answer.status, message });
    }
    if (text === '') return undefined;
    try {
      return readJson(text);
    } catch {
      throw new BoxofficeError({ kind: 'Internal', code: answer.status, message: 'the answer is no JSON' });
    }
  }
}

/** The body; undefined if it is longer. */
async function readUpTo(bytesMax: number, { body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function keyOf({ idempotencyKey = randomUUID() }: MutationOptions): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
  }
  return idempotencyKey;
}

/** Source: specification 7.1. Internal errors of the service may also be temporary. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof BoxofficeError)) return false;
  return error.kind === 'Unavailable' || error.kind === 'Timeout' || error.code === 500;
}

function fill(pattern: string, values: object): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name) =>
    segmentOf(name, (values as Record<string, unknown>)[name]),
  );
}

/** A part of a path. URLs drop the parts `.` and `..`, percent-encoded or not. Source: WHATWG URL, 4.4. */
function segmentOf(name: string, value: unknown): string {
  const isPart = typeof value === 'string' && value.isWellFormed() && !['', '.', '..'].includes(value);
  if (!isPart) throw new TypeError(`${name} must be a well-formed string, and not empty, "." or ".."`);
  return encodeURIComponent(value);
}

/** The texts of a query. Throws `TypeError`. */
export function toQuery(query: Query): Record<string, string> {
  const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  const entries = Object.entries(query)
    .filter(([, value]) => isGiven(value))
    .map(([name, value]) => {
      const texts = (Array.isArray(value) ? value : [value]).map((each) => textOf(name, each));
      return [name, texts.join(',')];
    });
  return Object.fromEntries(entries);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw new TypeError(`${name} must be a valid Date, or a well-formed string`);
}

const WIRE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NAMES).map(([wire, here]) => [here, wire]),
);

function toWire(value: unknown): unknown {
  // What a number would round is beyond what the service takes, rounded or not.
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [WIRE_NAMES[name] ?? name, toWire(each)]),
  );
}

/** What a JSON text of the service holds, in the form of answers. Throws `SyntaxError`. */
export function readJson(text: string): unknown {
  return fromWire(JSON.parse(text, withBigInts));
}

/** Integers of 64 bits from their digits: a number would be rounded. Node 20 gives the number alone. */
function withBigInts(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || !INTEGERS.has(name)) return value;
  const digits = context?.source ?? String(value);
  return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
}

function fromWire(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => fromWire(each));
  if (typeof value === 'object' && value !== null) {
    if (AS_IS.has(name)) return withNumbers(value);
    const entries = Object.entries(value).map(([key, each]) => [
      NAMES[key as keyof typeof NAMES] ?? key,
      fromWire(each, key),
    ]);
    return Object.fromEntries(entries);
  }
  if (typeof value === 'number' && INTEGERS.has(name)) throw new SyntaxError(`${name} is no integer`);
  if (typeof value === 'string' && TIMES.has(name)) return new Date(value);
  return value;
}

/** Members of any name were read like those that have a meaning. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withNumbers(each)]));
}
