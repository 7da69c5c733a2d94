/** `GET /v1/events` as server-sent events. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { STREAMS_LIMIT } from '../../../src/control/streams/stream-limit.ts';
import { TIME_LIMITS } from '../../../src/doors/http/time-limits.ts';
import { buildRest } from '../../../src/doors/rest/server.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { appendCounted } from '../../outward/webhooks/support.ts';
import { openEventStream, type TestEventStream } from '../../support/event-stream.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectError, expectOk, rawRequest, setStatus } from './support.ts';

const app = useService({ makesUpEvents: true });

async function follow(
  { key }: TestTenant,
  query = '',
  headers: Record<string, string> = {},
): Promise<TestEventStream> {
  const stream = await openEventStream(`${app.url}/v1/events${query}`, key, headers);
  onTestFinished(() => stream.close());
  return stream;
}

/** The numbers of the next events, and of places that come without one: `5-`. */
async function take(stream: TestEventStream, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { id, data } = (await stream.next())!;
    taken.push(data === '' ? `${id}-` : id!);
  }
  return taken;
}

/** Reads to the end. */
async function isOver(stream: TestEventStream): Promise<boolean> {
  while (await stream.next());
  return true;
}

test('begins with the next event, and has each as the list has it', async () => {
  const tenant = await app.signUp();
  await appendCounted(app, tenant, 2);
  const stream = await follow(tenant);
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect([stream.headers.get('vary'), stream.headers.get('cache-control')]).toEqual(['accept', 'no-store']);
  expect(await take(stream, 1)).toEqual(['2-']);
  await appendCounted(app, tenant, 1);
  const told = (await stream.next())!;
  const [listed] = expectOk(await app.request('GET', '/v1/events?after=2', { key: tenant.key })).events;
  expect([told.id, told.event, JSON.parse(told.data)]).toEqual(['3', listed.type, listed]);
});

test('goes on after a number, by the query or where the client was', async () => {
  const tenant = await app.signUp();
  await appendCounted(app, tenant, 250);
  const all = await follow(tenant, '?after=0');
  expect(await take(all, 250)).toEqual(Array.from({ length: 250 }, (_, at) => String(at + 1)));
  const later = await follow(tenant, '?after=0', { 'last-event-id': '248' });
  expect(await take(later, 2)).toEqual(['249', '250']);
});

test('moves the place past types that are not wanted', async () => {
  const tenant = await app.signUp();
  await appendCounted(app, tenant, 3);
  const stream = await follow(tenant, '?after=0&types=key_created');
  expect(await take(stream, 1)).toEqual(['3-']);
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one' } });
  expect((await stream.next())!.event).toBe('key_created');
});

test('tells nothing that happened after the key was revoked, and ends', async () => {
  const tenant = await app.signUp();
  const made = await app.request('POST', '/v1/keys', {
    key: tenant.key,
    body: { name: 'one', kind: 'backend' },
  });
  const stream = await follow({ ...tenant, key: made.json.api_key });
  await take(stream, 1);
  expect((await app.request('DELETE', `/v1/keys/${made.json.key.id}`, { key: tenant.key })).status).toBe(204);
  await appendCounted(app, tenant, 1);
  expect(await stream.next()).toBeUndefined();
});

test('ends when the tenant is deleted', async () => {
  const tenant = await app.signUp();
  const stream = await follow(tenant);
  await take(stream, 1);
  await setStatus(app, tenant, 'deleted');
  expect(await isOver(stream)).toBe(true);
});

test.each([
  ['?after=7', {}, 'invalid request: after must be <= 0, the number of the newest event'],
  ['', { 'last-event-id': '-1' }, 'invalid request: Last-Event-ID must be the number of an event'],
  ['?types=x', {}, 'invalid request: types must be types of events, separated by commas'],
])('refuses %s %o before it begins', async (query, headers, message) => {
  const tenant = await app.signUp();
  const accept = { accept: 'text/event-stream', ...headers };
  expectError(
    await app.request('GET', `/v1/events${query}`, { key: tenant.key, headers: accept }),
    400,
    message,
  );
});

test('counts among the streams of the tenant until it is closed', async () => {
  const tenant = await app.signUp();
  const streams: TestEventStream[] = [];
  while (streams.length < STREAMS_LIMIT.pending) streams.push(await follow(tenant));
  const headers = { accept: 'text/event-stream' };
  const refused = await app.request('GET', '/v1/events', { key: tenant.key, headers });
  expect(refused.status).toBe(429);
  streams[0]!.close();
  await expect
    .poll(async () => {
      const again = new AbortController();
      const { status } = await fetch(`${app.url}/v1/events`, {
        headers: { ...headers, authorization: `Bearer ${tenant.key}` },
        signal: again.signal,
      });
      again.abort();
      return status;
    })
    .toBe(200);
});

test('a client that does not read holds one page, and delays no other', async () => {
  const tenant = await app.signUp();
  const stuck = await follow(tenant, '?after=0');
  await appendCounted(app, tenant, 2_000);
  const reader = await follow(tenant, '?after=0');
  expect((await take(reader, 2_000)).at(-1)).toBe('2000');
  expect(await take(stuck, 2)).toEqual(['0-', '1']);
});

test('ends once its client has taken nothing for 30 s, and gives its place back', async () => {
  const tenant = await app.signUp();
  // The looks at unread answers are by a timer that repeats.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const rest = await buildRest(app.service.deps, { trustProxy: [] });
  await rest.listen({ host: '127.0.0.1', port: 0 });
  const accepted = once(rest.server, 'connection') as Promise<[Socket]>;
  const client = connect((rest.server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(async () => {
    vi.useRealTimers();
    client.destroy();
    await rest.close();
  });
  const headers = { authorization: `Bearer ${tenant.key}`, accept: 'text/event-stream' };
  client.write(rawRequest('GET /v1/events?after=0 HTTP/1.1', headers));
  const [server] = await accepted;
  const subject = { metadata: 'x'.repeat(60_000) };
  const large = Array.from({ length: 300 }, () => ({ type: 'room_updated', roomUid: null, subject }));
  await appendEvents(app.service.deps.db, idOf(tenant), large);
  app.service.deps.events.wake(idOf(tenant));
  await vi.waitFor(() => expect(server.writableLength).toBeGreaterThan(0), { timeout: 20_000 });
  const takenOf = () => server.bytesWritten - server.writableLength;
  let looks = 0;
  for (let taken = takenOf(); !server.destroyed && looks < 100; looks += 1) {
    await vi.advanceTimersByTimeAsync(TIME_LIMITS.unreadMs / 6);
    await new Promise((resolve) => setTimeout(resolve, 5));
    // The systems of both sides take the first bytes.
    if (!server.destroyed && takenOf() !== taken) looks = 0;
    if (!server.destroyed) taken = takenOf();
  }
  expect(looks).toBeLessThanOrEqual(8);
  await expect
    .poll(async () => {
      const streams: TestEventStream[] = [];
      try {
        while (streams.length < STREAMS_LIMIT.pending) streams.push(await follow(tenant));
        return streams.length;
      } catch {
        return streams.length;
      } finally {
        for (const each of streams) each.close();
      }
    })
    .toBe(STREAMS_LIMIT.pending);
});

test('HEAD and JSON are answered as before', async () => {
  const tenant = await app.signUp();
  const stream = 'text/event-stream;q=0.1, application/json';
  const listed = await app.request('GET', '/v1/events', { key: tenant.key, headers: { accept: stream } });
  expect(listed.json.events).toEqual([]);
  const headers = { accept: 'text/event-stream' };
  expect((await app.request('HEAD', '/v1/events', { key: tenant.key, headers })).status).toBe(200);
});
