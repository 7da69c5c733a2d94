/** Reads server-sent events as a client does. */
import { expect } from 'vitest';

export interface SentEvent {
  readonly event: string;
  /** Empty: only an id came. */
  readonly data: string;
  readonly id?: string;
}

export interface TestEventStream {
  readonly headers: Headers;
  /** The next event; `undefined`: the stream has ended. */
  next(): Promise<SentEvent | undefined>;
  close(): void;
}

export async function openEventStream(
  url: string,
  key?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestEventStream> {
  const ending = new AbortController();
  const answer = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    signal: ending.signal,
  });
  expect(answer.status).toBe(200);
  const events = readEvents(answer.body!.pipeThrough(new TextDecoderStream()));
  return {
    headers: answer.headers,
    next: async () => (await events.next()).value ?? undefined,
    close: () => ending.abort(),
  };
}

async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<SentEvent, undefined> {
  let text = '';
  for await (const chunk of chunks) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const {
        event = '',
        data = '',
        id,
      } = Object.fromEntries(part.split('\n').map((line) => /^(event|data|id): (.+)$/.exec(line)!.slice(1)));
      yield { event, data, ...(id !== undefined && { id }) };
    }
  }
}
