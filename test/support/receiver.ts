/** A receiver of webhooks, and deliveries that tests need not wait for. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { SEND_TIMES } from '../../src/outward/webhooks/send-limits.ts';
import type { WebhookOptions } from '../../src/run/service.ts';
import { faultsOfEvent } from './real-events.ts';

/** Ten attempts, as usual, within a second. */
export const FAST_WEBHOOKS: WebhookOptions = {
  rules: {
    schedule: { waitSeconds: Array(9).fill(0.01), quickSeconds: [], jitter: 0.1 },
    leaseSeconds: 1,
    turnMs: 1_000,
  },
  times: { ...SEND_TIMES, answer: 1_000, body: 500 },
};

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every type
  readonly event: any;
}

/** Answers a request: a status, or whatever it does with the response. */
export type Answering = (received: Received, response: ServerResponse) => number | undefined;

export interface Receiver {
  /** The address of a path of its own. */
  url(path?: string): string;
  /** Every request so far, or those of one path. */
  received(path?: string): readonly Received[];
  /** How requests to a path are answered from now on; at first with 204. */
  answer(path: string, answering: Answering): void;
}

/** What a request tells, as `GET /v1/events` would: CloudEvents get our names. */
export function eventsOf({ event: body }: Pick<Received, 'event'>): Received['event'][] {
  const all = Array.isArray(body) ? body : (body.events ?? [body]);
  return all.map((each: Received['event']) => {
    if (each.specversion === undefined) return each;
    const { id, sequence, type, schemaversion, time, skipped, data } = each;
    return {
      ...{ id, seq: Number(sequence), type: type.replace(/^boxoffice\./, ''), schema_version: schemaversion },
      ...{ timestamp: time, ...(skipped !== undefined && { skipped: Number(skipped) }), data },
    };
  });
}

/** `close` fails if an event was not as its schema says. */
export async function startReceiver(): Promise<Receiver & { close(): Promise<void> }> {
  const all: Received[] = [];
  const faults: string[] = [];
  const answers = new Map<string, Answering>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const received = { path: request.url!, headers: request.headers, text, event: JSON.parse(text) };
      all.push(received);
      if (request.headers['webhook-id'] !== undefined)
        faults.push(...eventsOf(received).flatMap(faultsOfEvent));
      const status = (answers.get(request.url!) ?? (() => 204))(received, response);
      if (status !== undefined)
        response.writeHead(status).end(status === 204 ? undefined : `status ${status}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    received: (path) => all.filter((each) => path === undefined || each.path === path),
    answer: (path, answering) => void answers.set(path, answering),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (faults.length > 0) throw new Error(`events are not as their schemas: ${faults.join('; ')}`);
    },
  };
}

/** For the calling test file. */
export function useReceiver(): Receiver {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());
  return {
    url: (path) => receiver.url(path),
    received: (path) => receiver.received(path),
    answer: (path, answering) => receiver.answer(path, answering),
  };
}
