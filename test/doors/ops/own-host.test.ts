import { expect, test } from 'vitest';
import { isOwnHost } from '../../../src/doors/ops/own-host.ts';

const HOSTS = new Set(['ops.example', '10.0.0.9']);

test.each([
  // host, where the connection arrived, whether it is ours
  ['10.0.0.5:8083', '10.0.0.5', true],
  ['10.0.0.5', '::ffff:10.0.0.5', true],
  ['[fd00::5]:8083', 'fd00::5', true],
  ['10.0.0.6', '10.0.0.5', false],
  ['10.0.0.9:8083', '172.17.0.2', true],
  ['ops.example:8083', '10.0.0.5', true],
  ['localhost:8083', '127.0.0.1', true],
  ['localhost:8083', '::1', true],
  ['localhost:8083', '10.0.0.5', false],
  ['evil.example', '127.0.0.1', false],
  ['', '127.0.0.1', false],
  [undefined, '127.0.0.1', true],
])('%s at %s: %s', (host, arrivedAt, isOwn) => {
  expect(isOwnHost(host, arrivedAt, HOSTS)).toBe(isOwn);
});
