import { expect, test } from 'vitest';
import { isOwnForm, ownAddressOf } from '../../../src/doors/consoles/origin.ts';

test('a request for another name of this machine gets the address that its forms need', () => {
  const own = 'http://127.0.0.1:8080';
  expect(ownAddressOf('localhost:8080', '/console?a=1', own)).toBe(`${own}/console?a=1`);
  expect(ownAddressOf('127.0.0.1:8080', '/', own)).toBeUndefined();
  expect(ownAddressOf('localhost:9090', '/', own)).toBeUndefined();
  expect(ownAddressOf('evil.example:8080', '/', own)).toBeUndefined();
  expect(ownAddressOf('localhost:8080', '/', 'https://boxoffice.example')).toBeUndefined();
});

test.each([
  [{ origin: 'https://own.example' }, true],
  [{ origin: 'https://own.example', 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: 'https://own.example', 'sec-fetch-site': 'same-site' }, false],
  [{ origin: 'https://other.example', 'sec-fetch-site': 'same-origin' }, false],
  [{ 'sec-fetch-site': 'same-origin' }, false],
  [{}, false],
])('a form with %j is of a page of ours: %s', (headers, isOwn) => {
  expect(isOwnForm(headers, 'https://own.example/base')).toBe(isOwn);
});
