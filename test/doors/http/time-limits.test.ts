import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Http, openHttp } from '../../../src/doors/http/http.ts';
import { TIME_LIMITS, type TimeLimits } from '../../../src/doors/http/time-limits.ts';
import { UnreadAnswers } from '../../../src/doors/http/unread-answers.ts';
import { renderClientError, sendError } from '../../../src/doors/rest/errors.ts';
import { useService } from '../../support/service.ts';
import { rawRequest } from '../rest/support.ts';

const app = useService({ payments: false });
const STEP_MS = TIME_LIMITS.stepMs;
const JSON_HEADERS = { 'content-type': 'application/json' };

afterEach(() => {
  vi.useRealTimers();
});

/** A door whose route `POST /` answers with the length of the body's text, and one connection to it. */
async function open({
  times,
  onRequest,
  readBody,
}: {
  times?: TimeLimits;
  onRequest?: () => Promise<void>;
  readBody?: () => Promise<unknown>;
} = {}) {
  const door: Http = openHttp(
    app.service.deps,
    { trustProxy: [], bodyBytesMax: 2 ** 20, sendError, renderClientError },
    times,
  );
  const arrived = Promise.withResolvers<void>();
  door.post<{ Body: { text: string } }>(
    '/',
    {
      config: { ...(readBody && { readBody }) },
      onRequest: async () => {
        arrived.resolve();
        await onRequest?.();
      },
    },
    async (request) => ({ length: request.body.text.length }),
  );
  door.get('/large', async () => 'x'.repeat(64 * 2 ** 20));
  door.get('/pieces', async () => Readable.from(pieces(), { objectMode: false }));
  const rest = Promise.withResolvers<string>();
  door.get('/stream', async () => Readable.from(parts(rest.promise)));
  await door.listen({ host: '127.0.0.1', port: 0 });
  const accepted = once(door.server, 'connection');
  const { port } = door.server.address() as { port: number };
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  const [server] = (await accepted) as [Socket];
  onTestFinished(async () => {
    vi.useRealTimers();
    client.destroy();
    await door.close();
  });
  let text = '';
  client.on('data', (data) => {
    text += data;
  });
  return {
    door,
    client,
    server,
    arrived: arrived.promise,
    answer: () => text,
    /** Sends the last part of `GET /stream`. */
    endStream: rest.resolve,
    /** Wait without timers, which tests replace. */
    answered: () => until(() => text.includes('\r\n\r\n')),
  };
}

async function* pieces(): AsyncGenerator<string> {
  for (let count = 0; count < 1024; count += 1) yield 'x'.repeat(64 * 2 ** 10);
}

async function* parts(rest: Promise<string>): AsyncGenerator<string> {
  yield 'first, ';
  yield await rest;
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await turn();
}

function post(length: number, body: string): string {
  return rawRequest('POST / HTTP/1.1', { ...JSON_HEADERS, 'content-length': String(length) }, body);
}

const bodyOf = (characters: number) => JSON.stringify({ text: 'x'.repeat(characters) });

const useFakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

describe('a body', () => {
  test('whose sender stops is answered 408, and the connection ends', async () => {
    useFakeTimers();
    const { client, answer, answered, arrived } = await open();
    const closed = once(client, 'close');
    client.write(post(100, '{"text":'));
    await arrived;
    await turn();
    await vi.advanceTimersByTimeAsync(STEP_MS - 1);
    expect(answer()).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer()).toContain('{"error":"the request was not complete in time"}');
    await closed;
  });

  test('may take as long as it likes while it makes progress', async () => {
    useFakeTimers();
    const { client, server, answer, answered, arrived } = await open();
    const body = bodyOf(500_000);
    client.write(post(body.length, body.slice(0, 100)));
    await arrived;
    await turn();
    for (let sent = 100; sent < body.length; ) {
      const part = body.slice(sent, sent + 40_000);
      const before = server.bytesRead;
      client.write(part);
      sent += part.length;
      await until(() => server.bytesRead >= before + part.length);
      await vi.advanceTimersByTimeAsync(STEP_MS);
    }
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer()).toContain('{"length":500000}');
  });

  test('that comes drop by drop is answered 408', async () => {
    useFakeTimers();
    const { client, server, answer, answered, arrived } = await open();
    const body = bodyOf(500_000);
    client.write(post(body.length, ''));
    await arrived;
    let drops = 0;
    for (; drops < 100 && answer() === ''; drops += 1) {
      const before = server.bytesRead;
      client.write(body.slice(drops * 1_000, (drops + 1) * 1_000));
      await until(() => server.bytesRead > before || answer() !== '');
      await vi.advanceTimersByTimeAsync(STEP_MS / 10);
      await turn();
    }
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
    expect(drops).toBeLessThanOrEqual(11);
  });

  test('that comes drop by drop is answered 408, whatever its chunks carry besides', async () => {
    useFakeTimers();
    const { client, server, answer, answered, arrived } = await open();
    const headers = { ...JSON_HEADERS, 'transfer-encoding': 'chunked' };
    client.write(rawRequest('POST / HTTP/1.1', headers, ''));
    await arrived;
    let drops = 0;
    for (; drops < 30 && answer() === ''; drops += 1) {
      const before = server.bytesRead;
      // The extension of a chunk is no part of the body.
      client.write(`1;x=${'y'.repeat(8_000)}\r\n \r\n`);
      await until(() => server.bytesRead > before || answer() !== '');
      await vi.advanceTimersByTimeAsync(STEP_MS / 5);
      await turn();
    }
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
    expect(drops).toBeLessThanOrEqual(6);
  });

  test('that arrived while this process was stopped is read before its sender is judged', async () => {
    useFakeTimers();
    const { client, answer, answered, arrived } = await open();
    const body = bodyOf(1_000);
    client.write(post(body.length, body.slice(0, 10)));
    await arrived;
    await turn();
    // The time limit passes between the arrival of the bytes and the read, as after SIGCONT.
    client.write(body.slice(10));
    vi.advanceTimersByTime(STEP_MS + 2_000);
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('that waits for a slow service is answered 503, with Retry-After', async () => {
    useFakeTimers();
    const { client, answer, answered, arrived } = await open({ onRequest: () => new Promise(() => {}) });
    const body = bodyOf(500_000);
    client.write(post(body.length, body.slice(0, 10)));
    await arrived;
    vi.advanceTimersByTime(STEP_MS);
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(answer()).toMatch(/\r\nretry-after: \d+\r\n/);
    expect(answer()).toContain('{"error":"the service is busy: try again"}');
  });

  test('that has arrived and waits to be read is answered 503', async () => {
    useFakeTimers();
    const reading = Promise.withResolvers<void>();
    const { client, answer, answered } = await open({
      readBody: () => {
        reading.resolve();
        return new Promise(() => {});
      },
    });
    const body = bodyOf(1_000);
    client.write(post(body.length, body));
    await reading.promise;
    vi.advanceTimersByTime(STEP_MS);
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
  });

  test('that does not end after an early answer ends its connection', async () => {
    useFakeTimers();
    const { client, answer, answered } = await open({
      onRequest: () => Promise.reject(new Error('at once')),
    });
    const closed = once(client, 'close');
    client.write(post(500_000, '{'));
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 500 /);
    await turn();
    await vi.advanceTimersByTimeAsync(STEP_MS);
    await closed;
  });

  test('of a call from within the process ends no connection, because there is none', async () => {
    useFakeTimers();
    const { door } = await open({ onRequest: () => Promise.reject(new Error('at once')) });
    expect((await door.inject({ method: 'POST', url: '/', payload: { text: 'x' } })).statusCode).toBe(500);
    // It would throw outside of any request, and so end the process.
    await vi.advanceTimersByTimeAsync(2 * STEP_MS);
  });
});

describe('a head', () => {
  const isLate = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

  test('that does not end is answered 408', async () => {
    const { client, answer } = await open({ times: { ...TIME_LIMITS, stepMs: 50 } });
    const closed = once(client, 'close');
    client.write('GET /large HTTP/1.1\r\nhost: x\r\nx: ');
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer()).toContain('{"error":"the request was not complete in time"}');
  });

  test('that arrived while this process was stopped is served', async () => {
    const { door, client, server, answer, answered } = await open();
    const body = bodyOf(3);
    await turn();
    client.write(post(body.length, body));
    // As Node reports it before it has read the bytes.
    door.server.emit('clientError', isLate, server);
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('that is late again on a connection that was served before is answered 408', async () => {
    const { door, client, server, answer, answered } = await open();
    const body = bodyOf(3);
    client.write(post(body.length, body));
    await answered();
    const closed = once(client, 'close');
    door.server.emit('clientError', isLate, server);
    await closed;
    expect(answer()).toMatch(/HTTP\/1\.1 408 /);
  });
});

describe('an answer', () => {
  test('may be unread for 30 s', () => {
    expect(TIME_LIMITS.unreadMs).toBe(30_000);
  });

  test('to a client that has left is not watched, so that nothing holds its request', async () => {
    const watch = vi.spyOn(UnreadAnswers.prototype, 'watch');
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const readBody = async () => {
      entered.resolve();
      await gate.promise;
      return { text: 'abc' };
    };
    const { client, server } = await open({ readBody });
    const body = '{"text":"abc"}';
    client.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await entered.promise;
    client.destroy();
    await until(() => server.destroyed);
    // The close of the connection is told to the answer a little later.
    for (let turns = 0; turns < 20; turns += 1) await turn();
    gate.resolve();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(watch).not.toHaveBeenCalled();
    watch.mockRestore();
  });

  /** The looks at unread answers are by a timer that repeats. */
  const useFakeLooks = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const look = async () => {
    await vi.advanceTimersByTimeAsync(TIME_LIMITS.unreadMs / 6);
    await turn();
  };
  const takenOf = (server: Socket) => {
    const { _handle: handle } = server as unknown as { _handle: { writeQueueSize: number } | null };
    return `${server.bytesWritten - server.writableLength} ${handle?.writeQueueSize}`;
  };

  test.each(['/large', '/pieces'])('that is not read ends with its connection in time: %s', async (path) => {
    useFakeLooks();
    const { client, server } = await open();
    client.pause();
    client.write(rawRequest(`GET ${path} HTTP/1.1`));
    await until(() => server.writableLength > 0);
    let looks = 0;
    for (let taken = takenOf(server); !server.destroyed; looks += 1) {
      await look();
      // The system of the client takes the first bytes.
      if (!server.destroyed && takenOf(server) !== taken) looks = 0;
      if (!server.destroyed) taken = takenOf(server);
    }
    expect(looks).toBeGreaterThanOrEqual(6);
    expect(looks).toBeLessThanOrEqual(7);
  });

  test.each(['/large', '/pieces'])('that is read slowly but steadily arrives: %s', async (path) => {
    useFakeLooks();
    const { client, server, answer } = await open();
    client.pause();
    client.write(rawRequest(`GET ${path} HTTP/1.1`));
    await until(() => server.writableLength > 0);
    for (let looks = 0; looks < 10; looks += 1) {
      const taken = takenOf(server);
      client.resume();
      await until(() => takenOf(server) !== taken);
      client.pause();
      await look();
    }
    expect(server.destroyed).toBe(false);
    client.resume();
    await until(() => answer().length > 64 * 2 ** 20);
  });

  test('that has begun takes as long as it needs', async () => {
    useFakeTimers();
    const { client, answer, answered, endStream } = await open();
    client.write(rawRequest('GET /stream HTTP/1.1'));
    await answered();
    vi.advanceTimersByTime(10 * STEP_MS);
    endStream('last');
    await until(() => answer().endsWith('0\r\n\r\n'));
    expect(answer()).toContain('last');
  });

  test('that is read arrives, however long the service took for it', async () => {
    const waited = Promise.withResolvers<void>();
    const { client, arrived, answer, answered } = await open({
      times: { ...TIME_LIMITS, unreadMs: 20 },
      onRequest: () => waited.promise,
    });
    const body = bodyOf(3);
    client.write(post(body.length, body));
    await arrived;
    const begun = performance.now();
    await until(() => performance.now() - begun > 100);
    waited.resolve();
    await answered();
    expect(answer()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});
