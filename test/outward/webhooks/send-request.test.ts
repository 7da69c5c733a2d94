import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { CONNECTIONS_PER_HOST_MAX, SEND_TIMES } from '../../../src/outward/webhooks/send-limits.ts';
import {
  answerOk,
  BODY,
  IMPATIENT,
  post,
  startReceiver,
  startSender,
  TENANT,
  writeForEver,
} from './receivers.ts';

const UNKNOWN = 'the connection closed before an answer: the receiver may have the request';

describe('a request', () => {
  test('is a POST with the headers of the caller, and no others than it needs', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    const outcome = await post(startSender(), `${receiver.url}?a=b`);
    expect(outcome).toEqual({ kind: 'answered', status: 200, body: 'ok', latencyMs: expect.any(Number) });
    const [head, body] = receiver.requests[0]!.split('\r\n\r\n');
    const [line, ...headers] = head!.split('\r\n');
    expect([line, body]).toEqual(['POST /hook?a=b HTTP/1.1', BODY]);
    expect(headers.map((each) => each.toLowerCase()).sort()).toEqual([
      'accept-encoding: identity',
      'connection: keep-alive',
      `content-length: ${BODY.length}`,
      `host: 127.0.0.1:${receiver.port}`,
      'user-agent: boxoffice-webhooks/1',
      'webhook-id: evt_1',
    ]);
  });

  test('has its body in UTF-8', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    await startSender().send({ tenant: TENANT, url: receiver.url, headers: {}, body: '"Zoë 🎈"' });
    const [, body] = receiver.requests[0]!.split('\r\n\r\n');
    expect(Buffer.from(body!, 'latin1').toString('utf8')).toBe('"Zoë 🎈"');
  });

  test('uses no proxy of the environment', async () => {
    for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']) {
      vi.stubEnv(name, 'http://127.0.0.1:1');
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    try {
      const receiver = await startReceiver((socket) => answerOk(socket));
      expect(await post(startSender(), receiver.url)).toMatchObject({ status: 200 });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('ends by the signal of the caller', async () => {
    const stop = new AbortController();
    const receiver = await startReceiver(() => stop.abort());
    expect(await post(startSender(), receiver.url, { signal: stop.signal })).toMatchObject({
      kind: 'failed',
      error: 'the service stopped before an answer: the receiver may have the request',
    });
    expect(await post(startSender(), receiver.url, { signal: stop.signal })).toMatchObject({
      kind: 'failed',
      error: 'the service is stopping',
    });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('an answer', () => {
  test.each([204, 299, 400, 404, 410, 500, 503])('of %i is told as it is', async (status) => {
    const text = status === 204 ? '' : 'content-length: 3\r\n';
    const receiver = await startReceiver((socket) =>
      socket.write(`HTTP/1.1 ${status} X\r\n${text}\r\n${status === 204 ? '' : 'why'}`),
    );
    expect(await post(startSender(), receiver.url)).toMatchObject({
      kind: 'answered',
      status,
      body: status === 204 ? '' : 'why',
    });
  });

  test.each([301, 302, 303, 307, 308])('of %i is not followed', async (status) => {
    const inside = await startReceiver((socket) => answerOk(socket));
    const receiver = await startReceiver((socket) =>
      socket.write(`HTTP/1.1 ${status} X\r\nlocation: ${inside.url}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await post(startSender(), receiver.url)).toMatchObject({ kind: 'answered', status });
    expect(inside.sockets).toHaveLength(0);
  });

  test.each([
    ['120', 120],
    ['0', 0],
    [new Date(Date.now() + 3_600_000).toUTCString(), expect.closeTo(3600, -2)],
    [new Date(0).toUTCString(), 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1e9', undefined],
    ['99999999999999', undefined],
    ['Sun, 99 Nov 2026 99:99:99 GMT', undefined],
  ])('with Retry-After: %s', async (text, seconds) => {
    const receiver = await startReceiver((socket) =>
      socket.write(`HTTP/1.1 503 X\r\nretry-after: ${text}\r\ncontent-length: 0\r\n\r\n`),
    );
    const outcome = await post(startSender(), receiver.url);
    expect((outcome as { retryAfterSeconds?: number }).retryAfterSeconds).toEqual(seconds);
  });

  test('is cut to 1,024 characters, and has none that a database refuses', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket, `a\0\u001b\t\n${'é'.repeat(2_000)}`));
    const outcome = await post(startSender(), receiver.url);
    expect(outcome).toMatchObject({ body: `a\ufffd\ufffd\t\n${'é'.repeat(1_019)}` });
  });

  test('is cut between characters, and may be no text at all', async () => {
    const receiver = await startReceiver((socket, _request, nth) => {
      if (nth === 1) return answerOk(socket, `x${'🎈'.repeat(600)}`);
      socket.write(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n'),
          Buffer.from([0xff, 0xfe]),
        ]),
      );
    });
    const sender = startSender();
    expect(await post(sender, receiver.url)).toMatchObject({ body: `x${'🎈'.repeat(511)}\ufffd` });
    expect(await post(sender, receiver.url)).toMatchObject({ body: '\ufffd\ufffd' });
  });
});

describe('a receiver that', () => {
  test('never answers fails after the time for an answer', async () => {
    const receiver = await startReceiver(() => {});
    expect(await post(startSender({ times: IMPATIENT }), receiver.url)).toMatchObject({
      kind: 'failed',
      error: 'no answer within 0.4 s: the receiver may have the request',
    });
    await vi.waitUntil(() => receiver.sockets[0]!.destroyed);
  });

  test('sends its headers for ever fails after the time for an answer', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x: y\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(startSender({ times: IMPATIENT }), receiver.url)).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('no answer within 0.4 s'),
    });
  });

  test('drags on with the body has said its status, and loses the connection', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\nfirst');
    });
    expect(await post(startSender({ times: { ...SEND_TIMES, body: 200 } }), receiver.url)).toMatchObject({
      kind: 'answered',
      status: 200,
      body: 'first',
    });
    await vi.waitUntil(() => receiver.sockets[0]!.destroyed);
  });

  test.each([
    ['10 MB', 'content-length: 10485760\r\n\r\n', Buffer.alloc(65_536, 'x')],
    ['a body without end', '\r\n', Buffer.alloc(65_536, 'x')],
    ['chunks without end', 'transfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(1_000)],
  ])('sends %s has said its status, and loses the connection', async (_what, headers, chunk) => {
    const receiver = await startReceiver((socket) => {
      socket.write(`HTTP/1.1 202 X\r\n${headers}`);
      writeForEver(socket, chunk);
    });
    expect(await post(startSender(), receiver.url)).toMatchObject({
      kind: 'answered',
      status: 202,
      body: 'x'.repeat(1_024),
    });
    await vi.waitUntil(() => receiver.sockets[0]!.destroyed);
    expect(receiver.sockets[0]!.bytesWritten).toBeLessThan(10_000_000);
  });

  test.each([
    ['closes mid-answer', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'],
    ['closes mid-chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\npart'],
    ['sends a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n'],
  ])('%s has said its status', async (_what, text) => {
    const receiver = await startReceiver((socket) => socket.end(text));
    expect(await post(startSender(), receiver.url)).toMatchObject({ kind: 'answered', status: 200 });
  });

  test.each([
    ['closes without an answer', '', UNKNOWN],
    ['closes within the status line', 'HTTP/1.1 20', UNKNOWN],
    ['closes within the headers', 'HTTP/1.1 200 OK\r\nx: ', UNKNOWN],
    ['talks SSH', 'SSH-2.0-OpenSSH_9.6\r\n', 'the answer is not HTTP'],
    ['talks nonsense', '\0\x01\x02\xff', 'the answer is not HTTP'],
    ['talks JSON', '{"ok":true}', 'the answer is not HTTP'],
    ['has a status that is none', 'HTTP/1.1 abc OK\r\n\r\n', 'the answer is not HTTP'],
    [
      'has two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      'the answer is not HTTP',
    ],
    [
      'has headers of 1 MB',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 20)}\r\n\r\n`,
      'the headers of the answer are too large',
    ],
    [
      'has a million headers',
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}\r\n`,
      'the headers of the answer are too large',
    ],
    [
      'floods 1xx',
      'HTTP/1.1 103 X\r\nlink: </a>\r\n\r\n'.repeat(10_000),
      'more than 8 interim answers came before the one that counts',
    ],
    [
      'floods 100',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(10_000),
      'more than 8 interim answers came before the one that counts',
    ],
    [
      'upgrades',
      'HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'the receiver switched to another protocol',
    ],
  ])('%s fails in plain words', async (_what, text, error) => {
    const receiver = await startReceiver((socket) => socket.end(text, 'latin1'));
    expect(await post(startSender(), receiver.url)).toMatchObject({ kind: 'failed', error });
  });

  test('sends a few 1xx first is heard', async () => {
    const receiver = await startReceiver((socket) => {
      socket.write('HTTP/1.1 103 X\r\n\r\n'.repeat(8));
      answerOk(socket);
    });
    expect(await post(startSender(), receiver.url)).toMatchObject({ kind: 'answered', status: 200 });
  });

  test('does not listen fails', async () => {
    const { port } = await startReceiver(() => {});
    expect(await post(startSender(), `http://127.0.0.2:${port}/`)).toMatchObject({
      kind: 'failed',
      error: '127.0.0.2 refused the connection',
    });
  });
});

describe('a connection', () => {
  test('is used again', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    const sender = startSender();
    for (let i = 0; i < 3; i++) await post(sender, receiver.url);
    expect([receiver.sockets.length, receiver.requests.length]).toEqual([1, 3]);
  });

  test('that the receiver closed in the meantime is replaced', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    const sender = startSender();
    await post(sender, receiver.url);
    const [first] = receiver.sockets;
    first!.end();
    // This side has seen the end too: it ends in return.
    await once(first!, 'close');
    expect(await post(sender, receiver.url)).toMatchObject({ status: 200 });
    expect([receiver.sockets.length, receiver.requests.length]).toEqual([2, 2]);
  });

  test('that closes as the request is on its way leaves the outcome unknown, and sends it once', async () => {
    const receiver = await startReceiver((socket, _request, nth) => {
      if (nth === 2) socket.resetAndDestroy();
      else answerOk(socket);
    });
    const sender = startSender();
    await post(sender, receiver.url);
    expect(await post(sender, receiver.url)).toMatchObject({ kind: 'failed', error: UNKNOWN });
    expect([receiver.sockets.length, receiver.requests.length]).toEqual([1, 2]);
    expect(await post(sender, receiver.url)).toMatchObject({ status: 200 });
  });

  test('that sent a second answer unasked is not used again', async () => {
    const receiver = await startReceiver((socket) => {
      answerOk(socket, 'own');
      answerOk(socket, 'smuggled');
    });
    const sender = startSender();
    expect(await post(sender, receiver.url)).toMatchObject({ body: 'own' });
    await vi.waitUntil(() => receiver.sockets[0]!.destroyed);
    expect(await post(sender, receiver.url)).toMatchObject({ body: 'own' });
  });

  test('belongs to one tenant: what hangs at a host holds no connection of another tenant there', async () => {
    const receiver = await startReceiver((socket, _request, nth) => {
      if (nth > 4 * CONNECTIONS_PER_HOST_MAX) answerOk(socket);
    });
    const sender = startSender();
    const controller = new AbortController();
    const { signal } = controller;
    const held = [1, 2, 3, 4].flatMap(() => {
      const tenant = newTenantId();
      return Array.from({ length: CONNECTIONS_PER_HOST_MAX }, () =>
        post(sender, receiver.url, { tenant, signal }),
      );
    });
    await vi.waitUntil(() => receiver.requests.length === held.length);
    expect(await post(sender, receiver.url)).toMatchObject({ status: 200 });
    controller.abort();
    await Promise.all(held);
  });

  test('that is idle is used again by its tenant only', async () => {
    const receiver = await startReceiver((socket) => answerOk(socket));
    const sender = startSender();
    await post(sender, receiver.url);
    await post(sender, receiver.url, { tenant: newTenantId() });
    await post(sender, receiver.url);
    expect([receiver.sockets.length, receiver.requests.length]).toEqual([2, 3]);
  });

  test('is one of a few of a tenant to the same host, and its other requests wait for it', async () => {
    const waiting: Socket[] = [];
    const receiver = await startReceiver((socket) => {
      if (receiver.requests.length > CONNECTIONS_PER_HOST_MAX) answerOk(socket);
      else waiting.push(socket);
    });
    const sender = startSender();
    const outcomes = Array.from({ length: CONNECTIONS_PER_HOST_MAX + 2 }, () => post(sender, receiver.url));
    await vi.waitUntil(() => waiting.length === CONNECTIONS_PER_HOST_MAX);
    for (const socket of waiting) answerOk(socket);
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ status: 200 });
    expect(receiver.sockets).toHaveLength(CONNECTIONS_PER_HOST_MAX);
  });

  test('that does not become free in time fails the requests that wait for it', async () => {
    const receiver = await startReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    const sender = startSender({ times: { ...SEND_TIMES, answer: 2_000, body: SEND_TIMES.answer } });
    const held = Array.from({ length: CONNECTIONS_PER_HOST_MAX }, () => post(sender, receiver.url));
    expect(await post(sender, receiver.url)).toMatchObject({
      kind: 'failed',
      error: 'no connection to 127.0.0.1 was free within 2 s',
    });
    for (const socket of receiver.sockets) socket.destroy();
    for (const outcome of await Promise.all(held)) expect(outcome).toMatchObject({ status: 200 });
    expect(receiver.requests).toHaveLength(CONNECTIONS_PER_HOST_MAX);
  });

  test('ends when the sender closes, which waits for requests under way', async () => {
    const receiver = await startReceiver((socket, _request, nth) => {
      if (nth === 1) answerOk(socket);
      else setImmediate(() => answerOk(socket, 'last'));
    });
    const sender = startSender();
    await post(sender, receiver.url);
    const last = post(sender, receiver.url);
    await sender.close();
    expect(await last).toMatchObject({ body: 'last' });
    expect(await post(sender, receiver.url)).toMatchObject({ error: 'the service is stopping' });
    await vi.waitUntil(() => receiver.sockets.every((socket) => socket.destroyed));
  });
});
