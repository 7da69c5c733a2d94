import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConnectionLimit } from '../../../src/base/limits/connection-limit.ts';
import { openHttp } from '../../../src/doors/http/http.ts';
import { renderClientError, sendError } from '../../../src/doors/rest/errors.ts';
import { useService } from '../../support/service.ts';

const app = useService({ payments: false });
const openDoor = (connections = app.service.deps.connections) =>
  openHttp(
    { ...app.service.deps, connections },
    { trustProxy: [], bodyBytesMax: 1024, sendError, renderClientError },
  );

afterEach(() => {
  vi.useRealTimers();
});

it('closes connections without a request when there are as many as may be, so that others get in', async () => {
  const door = openDoor(new ConnectionLimit({ max: 3, perAddressMax: 100, trusted: [] }));
  const waiting = Promise.withResolvers<string>();
  const arrived = Promise.withResolvers<void>();
  door.get('/waiting', () => {
    arrived.resolve();
    return waiting.promise;
  });
  door.get('/', () => 'done');
  const url = await door.listen({ host: '127.0.0.1', port: 0 });
  const open = async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const busy = fetch(`${url}/waiting`).then((answer) => answer.text());
  await arrived.promise;
  const idle = [await open(), await open()];
  for (const socket of idle) {
    socket.write('GET / HTTP/1.1\r\nhost: door\r\n\r\n');
    await once(socket, 'data');
  }
  const closed = idle.map((socket) => once(socket.resume(), 'close'));
  await once((await open()).resume(), 'close');
  await Promise.all(closed);
  expect(await (await fetch(url)).text()).toBe('done');
  waiting.resolve('at last');
  expect(await busy).toBe('at last');
  await door.close();
});

describe('a request that is not answered in time', () => {
  it.each([
    ['POST', 0, '{}'],
    ['GET', 0, undefined],
    ['POST', 14_900, '{}'],
  ])('is answered 503 after 15 seconds: %s, admitted after %i ms', async (method, beforeMs, body) => {
    const door = openDoor();
    const arrived = Promise.withResolvers<void>();
    const admitted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const logged: unknown[][] = [];
    door.route({
      method,
      url: '/slow',
      onRequest: (request) => {
        vi.spyOn(request.log, 'warn').mockImplementation((...args: unknown[]) => void logged.push(args));
        arrived.resolve();
        return admitted.promise;
      },
      handler: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const url = await door.listen({ host: '127.0.0.1', port: 0 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let answered = false;
    const answer = fetch(`${url}/slow`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    }).finally(() => {
      answered = true;
    });
    await arrived.promise;
    await vi.advanceTimersByTimeAsync(beforeMs);
    admitted.resolve();
    await begun.promise;
    await vi.advanceTimersByTimeAsync(14_900);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(200);

    const { status, text } = await answer.then(async (got) => ({
      status: got.status,
      text: await got.text(),
    }));
    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({ error: 'the service is busy: try again' });
    const message = expect.stringMatching(/^Request timed out after \d+ ms on route '\/slow'$/);
    expect(logged).toEqual([[{ err: expect.objectContaining({ message }) }, 'not answered in time']]);
    vi.useRealTimers();
    await door.close();
  });
});
