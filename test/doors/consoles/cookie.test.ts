import { expect, test } from 'vitest';
import { cookieName, readCookie, renderCookie } from '../../../src/doors/consoles/cookie.ts';

test('the cookie belongs to one host and TLS alone, where there is TLS', () => {
  const secret = 'A'.repeat(43);
  expect(renderCookie('https://a.example', secret)).toBe(
    `__Host-boxoffice=${secret}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure`,
  );
  expect(renderCookie('http://127.0.0.1:8080', null)).toBe(
    'boxoffice=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  );
  const name = cookieName('https://a.example');
  expect(readCookie('https://a.example', `a=b; ${name}=${secret}`)).toBe(secret);
  expect(readCookie('https://a.example', `boxoffice=${secret}`)).toBeUndefined();
  expect(readCookie('https://a.example', `${name}=${secret}; ${name}=${secret}`)).toBeUndefined();
  expect(readCookie('https://a.example', `${name}=short`)).toBeUndefined();
});

test('consoles on two ports of one host do not read the cookies of each other', () => {
  const secret = 'A'.repeat(43);
  const header = renderCookie('http://127.0.0.1:8083', secret, 'boxoffice-operator').split(';')[0];
  expect(readCookie('http://127.0.0.1:8083', header, 'boxoffice-operator')).toBe(secret);
  expect(readCookie('http://127.0.0.1:8080', header)).toBeUndefined();
});
