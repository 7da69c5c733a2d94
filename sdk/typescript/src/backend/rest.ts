/** The REST interface: requests are retried if that is safe. */
import { attemptInTime, type CallOptions, type Limits } from './calls.ts';
import { BoxofficeError, errorOfAnswer } from './errors.ts';
import { INTEGERS, NAMES, type Operations, TIMES } from './rest-types.ts';

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

export class Rest {
  readonly #options: RestOptions;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  /**
   * One request and its answer. A `POST` may have taken effect without an answer, so it is never repeated,
   * except for usage, whose records have ids.
   */
  async call<N extends Name>(name: N, given: Given<N>, options: CallOptions = {}): Promise<AnswerOf<N>> {
    const { limits } = this.#options;
    const isRepeatable = !name.startsWith('POST ') || name === 'POST /v1/usage';
    const mayRetry = (error: BoxofficeError) => isRepeatable && isTransient(error);
    const { path = {}, query = {}, body } = given as Partial<Record<'path' | 'query' | 'body', object>>;
    const [method, pattern] = name.split(' ') as [string, string];
    const url = new URL(this.#options.url.replace(/\/+$/, '') + fill(pattern, path));
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const text = body && JSON.stringify(toWire(body));
    const attempt = (signal: AbortSignal) => this.#send(method, url, text, signal);
    return fromWire(await attemptInTime(attempt, { ...options, limits, mayRetry })) as AnswerOf<N>;
  }

  async #send(method: string, url: URL, body: string | undefined, signal: AbortSignal): Promise<unknown> {
    const { apiKey } = this.#options;
    let answer: Response;
    let text: string;
    try {
      answer = await this.#options.fetch(url, {
        method,
        headers: {
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
        // No redirects: the key must only be sent to the given host.
        redirect: 'manual',
        signal,
      });
      // An answer only counts if it is complete.
      text = await answer.text();
    } catch (cause) {
      signal.throwIfAborted();
      const message = 'the service was not reached, or did not answer';
      throw new BoxofficeError({ kind: 'Unavailable', code: 'UNAVAILABLE', message, cause });
    }
    if (!answer.ok) throw errorOfAnswer(answer, text);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new BoxofficeError({ kind: 'Internal', code: answer.status, message: 'the answer is no JSON' });
    }
  }
}

/** Source: specification 7.1. Internal errors of the service may also be temporary. */
function isTransient(error: BoxofficeError): boolean {
  return error.kind === 'Unavailable' || error.kind === 'Timeout' || error.code === 500;
}

function fill(pattern: string, values: object): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent((values as Record<string, string>)[name]!),
  );
}

const WIRE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NAMES).map(([wire, here]) => [here, wire]),
);

function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [WIRE_NAMES[name] ?? name, toWire(each)]),
  );
}

function fromWire(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => fromWire(each));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, each]) => [
      NAMES[key as keyof typeof NAMES] ?? key,
      fromWire(each, key),
    ]);
    return Object.fromEntries(entries);
  }
  if (typeof value === 'string' && TIMES.has(name)) return new Date(value);
  if (typeof value === 'number' && INTEGERS.has(name)) return BigInt(value);
  return value;
}
