/** The receiver of docs/webhooks.md: a test compares them, and sends to it. WEBHOOK_SECRET has its secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const SECONDS_MAX = 300;
const BODY_BYTES_MAX = 1_048_576;

/** Whether the service sent this body, within the last minutes. `body` is what arrived, byte for byte. */
export function isGenuine(headers: IncomingMessage['headers'], body: Buffer, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > SECONDS_MAX) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length === 0) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((each) => {
    const [version, base64 = ''] = each.split(',');
    const given = Buffer.from(base64, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Keeps an event to work on it later. Does nothing if it has an event of this id already. */
type Keep = (id: string, event: string) => Promise<void>;

export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
  keep: Keep,
) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return response.writeHead(413, { connection: 'close' }).end();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers, body, secret)) return response.writeHead(401).end();
  // With `max_batch`, the body is a list.
  const told = JSON.parse(body.toString());
  for (const event of told.events ?? [told]) await keep(event.id, JSON.stringify(event));
  return response.writeHead(204).end();
}

if (import.meta.main) {
  const kept = new Set<string>();
  const keep: Keep = async (id, event) => {
    if (!kept.has(id)) console.log(`event ${id} ${event}`);
    kept.add(id);
  };
  const server = createServer((request, response) => {
    receive(request, response, process.env.WEBHOOK_SECRET ?? '', keep).catch(() =>
      response.writeHead(500).end(),
    );
  });
  server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
}
