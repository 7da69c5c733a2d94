/** A receiver of webhooks as a tenant would have one: it verifies each request and keeps each event once. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const WITHIN_MS = 15_000;

export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
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
    if (secret === undefined || !isGenuine(request.headers, body, secret)) {
      response.writeHead(401).end();
      return;
    }
    events.set(String(request.headers['webhook-id']), JSON.parse(body.toString()));
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

/** Whether the signature is that of the body. A real receiver refuses old timestamps, too: see docs/webhooks.md. */
function isGenuine(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  const expected = createHmac('sha256', key).update(signed).update(body).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
