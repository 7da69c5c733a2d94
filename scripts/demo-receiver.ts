/** A receiver of webhooks as a tenant would have one: it verifies each request and keeps each event once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  verifyWebhookEvents,
  type WebhookHeaders,
  WebhookRefused,
} from '../sdk/typescript/src/backend/verify-webhook.ts';

const WITHIN_MS = 15_000;

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: Date;
  // biome-ignore lint/suspicious/noExplicitAny: each type has other data
  readonly data: any;
}

export interface Receiver {
  readonly url: string;
  /** The secret that the service answered with. Requests before it are refused, so that they come again. */
  useSecret(secret: string): void;
  /** Resolves with the first event of the type. */
  received(type: string): Promise<ReceivedEvent>;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  let secret: string | undefined;
  const events = new Map<string, ReceivedEvent>();
  let changed = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const told = secret === undefined ? undefined : readEvents(secret, request.headers, body);
    if (!told) {
      response.writeHead(401).end();
      return;
    }
    for (const event of told) events.set(event.id, event);
    response.writeHead(204).end();
    changed.resolve();
    changed = Promise.withResolvers();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    useSecret: (given) => {
      secret = given;
    },
    received: async (type) => {
      const late = AbortSignal.timeout(WITHIN_MS);
      const end = new Promise<never>((_, reject) => {
        late.addEventListener('abort', () => reject(new Error(`the event ${type} did not arrive in time`)));
      });
      for (;;) {
        const event = [...events.values()].find((each) => each.type === type);
        if (event) return event;
        await Promise.race([changed.promise, end]);
      }
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** One event, or several: a webhook chooses. `undefined`: the request is not genuine. */
function readEvents(secret: string, headers: WebhookHeaders, body: Buffer): ReceivedEvent[] | undefined {
  try {
    return verifyWebhookEvents(secret, headers, body);
  } catch (error) {
    if (error instanceof WebhookRefused) return undefined;
    throw error;
  }
}
