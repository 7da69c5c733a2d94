import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultyProxy } from '../../faults/stage/faulty-proxy.ts';

/** A server that sends back what it gets, and the proxy in front of it. */
let proxy: FaultyProxy;
let close: () => void;
let received: string;

beforeEach(async () => {
  received = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (part) => {
      received += part;
      socket.write(part);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await FaultyProxy.open((server.address() as AddressInfo).port);
  close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
});

afterEach(() => {
  proxy.close();
  close();
});

interface Talk {
  readonly socket: Socket;
  text: string;
  isClosed: boolean;
}

async function talk(): Promise<Talk> {
  const socket = connect(proxy.port, '127.0.0.1');
  const all: Talk = { socket, text: '', isClosed: false };
  socket.on('error', () => {});
  socket.on('data', (part) => {
    all.text += part;
  });
  socket.on('close', () => {
    all.isClosed = true;
  });
  await once(socket, 'connect');
  return all;
}

test('it carries bytes both ways', async () => {
  const one = await talk();
  one.socket.write('hello');
  await expect.poll(() => one.text).toBe('hello');
});

test('a cut lets just so many bytes through, and ends that connection only', async () => {
  const [one, other] = [await talk(), await talk()];
  proxy.cutAtByte(3);
  one.socket.write('hello');
  await expect.poll(() => one.isClosed).toBe(true);
  expect(received).toBe('hel');
  other.socket.write('still here');
  await expect.poll(() => other.text).toBe('still here');
});

test('what is sent while it stalls arrives when it is mended', async () => {
  const one = await talk();
  proxy.stall();
  one.socket.write('late');
  const other = await talk();
  other.socket.write('later');
  expect(received).toBe('');
  proxy.mend();
  await expect.poll(() => one.text).toBe('late');
  await expect.poll(() => other.text).toBe('later');
});

test('what is sent while it stalls is lost if it is cut then', async () => {
  const one = await talk();
  proxy.stall();
  one.socket.write('lost');
  proxy.cutAll();
  proxy.mend();
  await expect.poll(() => one.isClosed).toBe(true);
  expect(received).toBe('');
});

test('nothing gets through while it refuses', async () => {
  const one = await talk();
  proxy.refuse();
  await expect.poll(() => one.isClosed).toBe(true);
  const other = await talk();
  await expect.poll(() => other.isClosed).toBe(true);
  proxy.mend();
  const last = await talk();
  last.socket.write('back');
  await expect.poll(() => last.text).toBe('back');
});

describe('it says when it is mended whether it has disturbed', () => {
  test('nothing', async () => {
    await talk();
    for (const disturb of [() => proxy.stall(), () => proxy.slow(1), () => proxy.cutAtByte(3)]) {
      disturb();
      expect(proxy.mend()).toBe(false);
    }
  });

  test('what it slowed, cut and refused', async () => {
    const one = await talk();
    proxy.slow(1);
    one.socket.write('a');
    await expect.poll(() => one.text).toBe('a');
    expect(proxy.mend()).toBe(true);
    proxy.cutAtByte(3);
    one.socket.write('hello');
    await expect.poll(() => one.isClosed).toBe(true);
    expect([proxy.mend(), proxy.mend()]).toEqual([true, false]);
    proxy.refuse();
    const other = await talk();
    await expect.poll(() => other.isClosed).toBe(true);
    expect(proxy.mend()).toBe(true);
  });

  test('what it held up', async () => {
    const one = await talk();
    proxy.stall();
    one.socket.write('late');
    const mendAndStall = () => {
      const hasDisturbed = proxy.mend();
      proxy.stall();
      return hasDisturbed;
    };
    await expect.poll(mendAndStall).toBe(true);
  });
});
