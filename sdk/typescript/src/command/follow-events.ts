/** Follows the events of a tenant as server-sent events, over broken connections. */
import { setTimeout } from 'node:timers/promises';
import { readEvents } from '../relay/event-stream.ts';

export interface Following {
  /** Of the service. */
  readonly url: string;
  readonly apiKey: string;
  /** Separated by commas; `undefined`: all. */
  readonly types: string | undefined;
  /** The number of an event; `undefined`: what happens from now on. */
  readonly after: string | undefined;
}

export interface FollowedEvent {
  /** Its number. */
  readonly id: string;
  /** Its type. */
  readonly event: string;
  /** All of it, as JSON. */
  readonly data: string;
}

const EVENT_CHARACTERS_MAX = 1_000_000;
/** The service is never silent for so long. */
const SILENCE_MS = 30_000;
const WAIT_MS = 1_000;
const WAIT_MS_MAX = 30_000;

/** Each once, in order, without end. `note`: told why a connection broke. Throws what the service refuses. */
export async function* followEvents(
  { url, apiKey, types, after }: Following,
  note: (line: string) => void,
): AsyncGenerator<FollowedEvent> {
  const address = new URL('/v1/events', url);
  if (types !== undefined) address.searchParams.set('types', types);
  let last = after;
  for (let failures = 0; ; failures += 1) {
    try {
      const stream = await open(address, { apiKey, last });
      for await (const { id, event, data } of readEvents(stream, EVENT_CHARACTERS_MAX)) {
        failures = 0;
        last = id ?? last;
        if (data !== '' && id !== undefined) yield { id, event, data };
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
      note(`the connection broke: ${reasonOf(error)}`);
    }
    await setTimeout(Math.min(WAIT_MS * 2 ** failures, WAIT_MS_MAX));
  }
}

/** Trying again would change nothing. */
class Refused extends Error {}

async function open(
  address: URL,
  { apiKey, last }: { readonly apiKey: string; readonly last: string | undefined },
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await fetch(address, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'text/event-stream',
      ...(last !== undefined && { 'last-event-id': last }),
    },
  });
  if (answer.status === 200 && answer.body) return withoutSilence(answer.body);
  const text = `${answer.status} ${(await answer.text()).slice(0, 500)}`;
  throw answer.status < 500 && answer.status !== 429 ? new Refused(text) : new Error(text);
}

async function* withoutSilence(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const silence = new AbortController();
      const late = setTimeout(SILENCE_MS, undefined, { signal: silence.signal }).then(() => {
        throw new Error(`nothing came for ${SILENCE_MS / 1000} s`);
      });
      late.catch(() => {});
      const { done, value } = await Promise.race([reader.read(), late]).finally(() => silence.abort());
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
