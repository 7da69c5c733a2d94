import { expect, test } from 'vitest';
import { ownAddressOf } from '../../../src/doors/consoles/origin.ts';

test('a request for another name of this machine gets the address that its forms need', () => {
  const own = 'http://127.0.0.1:8080';
  expect(ownAddressOf('localhost:8080', '/console?a=1', own)).toBe(`${own}/console?a=1`);
  expect(ownAddressOf('127.0.0.1:8080', '/', own)).toBeUndefined();
  expect(ownAddressOf('localhost:9090', '/', own)).toBeUndefined();
  expect(ownAddressOf('evil.example:8080', '/', own)).toBeUndefined();
  expect(ownAddressOf('localhost:8080', '/', 'https://boxoffice.example')).toBeUndefined();
});
