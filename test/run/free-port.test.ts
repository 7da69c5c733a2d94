/** Ports that no other program is given meanwhile. */

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../../src/run/free-port.ts';

vi.mock('node:crypto', { spy: true });

test('is none of those that the system gives to others by itself', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort('127.0.0.1')));
  expect(new Set(ports).size).toBeGreaterThan(40);
  for (const port of ports) expect(port).toBeLessThan(32_768);
});

test('is another one when the first is taken', async () => {
  const taken = createServer().listen(await findFreePort('127.0.0.1'), '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  vi.mocked(randomInt).mockImplementationOnce(() => port as never);
  const found = await findFreePort('127.0.0.1');
  expect(found).not.toBe(port);
});

test('tells of a host that is none of this machine', async () => {
  await expect(findFreePort('192.0.2.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});
