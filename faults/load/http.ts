/** Requests of clients to a service, and what is made of an answer. */
import type { Outcome, Reply } from '../journal.ts';
import { PUBLIC_URL } from '../stage/stage.ts';

/** Longer than a service takes for an answer. */
const PATIENCE_MS = 20_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The plaintext of a key or a device credential. */
  readonly key?: string;
  readonly body?: unknown;
  /** The fields of a form of the console. */
  readonly form?: Readonly<Record<string, string>>;
  readonly cookie?: string;
  readonly idempotency?: string | undefined;
  readonly accept?: string;
  /** The address of the client, as a proxy would tell it. */
  readonly address?: string;
}

/** The body and the headers stay with the client; `answer` is what is written down. */
export interface HttpReply extends Reply {
  readonly json: Body;
  readonly text: string;
  readonly headers: Headers;
}

// biome-ignore lint/suspicious/noExplicitAny: clients look into answers of every shape
type Body = any;

export async function send(url: string, request: HttpRequest): Promise<HttpReply> {
  try {
    const answer = await fetch(`${url}${request.path}`, {
      method: request.method,
      redirect: 'manual',
      headers: headersOf(request),
      ...bodyOf(request),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    const { status, headers } = answer;
    return { outcome: outcomeOf(status), status, json: parse(text), text, headers };
  } catch {
    return { outcome: 'unknown', json: undefined, text: '', headers: new Headers() };
  }
}

/** A redirect, as to the log-in, is no success. */
function outcomeOf(status: number): Outcome {
  if (status < 300) return 'ok';
  return status < 500 ? 'refused' : 'unknown';
}

function headersOf({
  key,
  body,
  form,
  cookie,
  idempotency,
  accept,
  address,
}: HttpRequest): Record<string, string> {
  return {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin: PUBLIC_URL }),
    ...(cookie !== undefined && { cookie }),
    ...(idempotency !== undefined && { 'idempotency-key': idempotency }),
    ...(accept !== undefined && { accept }),
    ...(address !== undefined && { 'x-forwarded-for': address }),
  };
}

function bodyOf({ body, form }: HttpRequest) {
  if (form !== undefined) return { body: new URLSearchParams(form).toString() };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

function parse(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
