/** Clients that keep their streams open and read nothing, and limits of connections. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { connect } from 'node:net';
import { RoomService } from '@boxoffice/contract/room_service';
import { create, type DescMethod, toBinary } from '@bufbuild/protobuf';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectionLimit } from '../../../src/base/limits/connection-limit.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { openGrpc } from '../../../src/doors/grpc/server.ts';
import { UNREAD_MS_MAX } from '../../../src/doors/grpc/unread.ts';
import { openHttp } from '../../../src/doors/http/http.ts';
import { renderClientError, sendError } from '../../../src/doors/rest/errors.ts';
import { isBookmark, read } from '../../events/support.ts';
import { control, useControl } from '../../support/grpc.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { frame, session } from './raw.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom, getRoom, listRooms, watchEvents } = RoomService.method;

test('an answer may be unread for 30 s', () => {
  expect(UNREAD_MS_MAX).toBe(30_000);
});

async function openDoor({ unreadMs = 60_000, ...change }: Partial<Deps> & { unreadMs?: number }) {
  const door = await openGrpc(
    { ...app.service.deps, ...change },
    {
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      trustProxy: [],
      findFault: async () => undefined,
      unreadMs,
    },
  );
  onTestFinished(() => door.close());
  return door.port;
}

function begin(raw: ClientHttp2Session, method: DescMethod, tenant: TestTenant, fields = {}) {
  const stream = raw.request({
    ':method': 'POST',
    ':path': `/${method.parent.typeName}/${method.name}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${tenant.key}`,
  });
  stream.on('error', () => {});
  stream.end(frame(toBinary(method.input, create(method.input, { tenant: tenant.id, ...fields } as never))));
  return stream;
}

async function tenantWithRoom(): Promise<TestTenant> {
  const tenant = await app.paidTenant();
  await controlOf(tenant).call(createRoom, { room: 'lobby', metadata: 'x'.repeat(4_000) });
  return tenant;
}

/** The code with which the service resets the stream. */
async function resetOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  if (!stream.closed) await once(stream, 'close');
  return stream.rstCode;
}

test.each([
  ['an answer', listRooms],
  ['a stream', watchEvents],
])('%s that nobody reads is reset, and its connection goes on', async (_what, method) => {
  const tenant = await tenantWithRoom();
  const port = await openDoor({ unreadMs: 20 });
  const raw = session(port, { initialWindowSize: 0 });
  onTestFinished(() => raw.destroy());
  const unread = [1, 2, 3].map(() => begin(raw, method, tenant));
  for (const each of unread) expect(await resetOf(each)).toBe(constants.NGHTTP2_CANCEL);
  await new Promise<void>((resolve) => void raw.ping(() => resolve()));
  expect(raw.destroyed).toBe(false);
});

test('a stream that is read goes on, however long nothing happens', async () => {
  const tenant = await tenantWithRoom();
  const port = await openDoor({ unreadMs: 20 });
  const of = control({ port }, tenant);
  const reading = read(of.follow(watchEvents, {}));
  await reading.until(isBookmark);
  // A stalled call ends after the stream had nothing to send for as long.
  const raw = session(port, { initialWindowSize: 0 });
  onTestFinished(() => raw.destroy());
  expect(await resetOf(begin(raw, listRooms, tenant))).toBe(constants.NGHTTP2_CANCEL);
  await of.call(createRoom, { room: 'next' });
  await reading.until(({ event }) => event!.kind.case === 'room' && event!.kind.value.name === 'next');
  await reading.cancel();
});

test('a connection beyond the limit is closed at once, over all ports', async () => {
  const tenant = await tenantWithRoom();
  const connections = new ConnectionLimit({ max: 100, perAddressMax: 2, trusted: [] });
  const port = await openDoor({ connections });
  const http = openHttp(
    { ...app.service.deps, connections },
    { trustProxy: [], bodyBytesMax: 1_024, sendError, renderClientError },
  );
  http.get('/', async () => ({}));
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => http.close());

  const raw = session(port);
  onTestFinished(() => raw.destroy());
  await once(raw, 'remoteSettings');
  const second = connect(Number(new URL(url).port), '127.0.0.1');
  await once(second, 'connect');
  second.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(second, 'data');
  for (const each of [port, Number(new URL(url).port)]) {
    const refused = connect(each, '127.0.0.1');
    refused.on('error', () => {}).resume();
    await once(refused, 'close');
  }
  second.destroy();
  await expect.poll(async () => (await ask(url, 'GET').catch(() => undefined))?.status).toBe(200);
  const served = begin(raw, getRoom, tenant, { room: 'lobby' });
  served.resume();
  expect(await resetOf(served)).toBe(constants.NGHTTP2_NO_ERROR);
});
