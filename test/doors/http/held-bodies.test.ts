import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { HeldBodies } from '../../../src/doors/http/held-bodies.ts';
import { BODIES_HELD_MAX } from '../../../src/doors/http/limits.ts';
import { useService } from '../../support/service.ts';

test('one owner has half of what it shares with others', () => {
  const held = new HeldBodies<string>(80);
  expect(held.hold('a', 40, false)).toBeDefined();
  expect(held.hold('a', 1, false)).toBeUndefined();
  expect(held.hold('b', 40, false)).toBeDefined();
  expect(held.hold('c', 1, false)).toBeUndefined();
});

test('strangers have half of all, and each half of that', () => {
  const held = new HeldBodies<string>(80);
  for (const name of ['x', 'y']) expect(held.hold(name, 20, true)).toBeDefined();
  expect(held.hold('z', 1, true)).toBeUndefined();
  expect(held.hold('a', 40, false)).toBeDefined();
  const other = new HeldBodies<string>(80);
  expect(other.hold('x', 21, true)).toBeUndefined();
});

test('a body that is released leaves its memory to others, once', () => {
  const held = new HeldBodies<string>(80);
  const release = held.hold('x', 20, true)!;
  held.hold('y', 20, true);
  release();
  release();
  expect(held.hold('x', 21, true)).toBeUndefined();
  expect(held.hold('x', 20, true)).toBeDefined();
  expect(held.hold('z', 1, true)).toBeUndefined();
});

const app = useService();
const BODY_BYTES = 1024 * 1024;
/** From one address without a key. */
const BODIES_MAX = BODIES_HELD_MAX / 4 / BODY_BYTES;

/** Announce a body of 1 MiB, and send none of it. */
async function announce(): Promise<{ readonly socket: Socket; answer(): string }> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (bytes) => {
    text += String(bytes);
  });
  const head = ['POST /v1/signup HTTP/1.1', 'host: x', 'content-type: application/json'];
  socket.write(`${[...head, `content-length: ${BODY_BYTES}`].join('\r\n')}\r\n\r\n`);
  return { socket, answer: () => text };
}

test('bodies that arrive slowly take a bounded part of the memory, and small ones none', async () => {
  const arriving = await Promise.all(Array.from({ length: BODIES_MAX }, announce));
  await vi.waitFor(async () => {
    const last = await announce();
    await vi.waitFor(() => expect(last.answer()).toContain(' 503 '), { timeout: 1_000 });
    expect(last.answer()).toContain('{"error":"the service is busy: try again"}');
    expect(last.answer()).toContain('retry-after: 2');
    last.socket.destroy();
  });
  expect(arriving.map(({ answer }) => answer())).toStrictEqual(arriving.map(() => ''));
  await app.signUp();
  const paid = await app.paidTenant();
  const room = 'r'.repeat(BODY_BYTES / 16);
  expect(
    await app.request('POST', '/v1/usage', { key: paid.relayKey, body: { records: [{ room }] } }),
  ).toMatchObject({
    status: 400,
  });

  for (const { socket } of arriving) socket.destroy();
  await vi.waitFor(async () => {
    const body = { email: 'x'.repeat(BODY_BYTES / 2), name: 'x' };
    expect(await app.request('POST', '/v1/signup', { body })).toMatchObject({ status: 400 });
  });
});
