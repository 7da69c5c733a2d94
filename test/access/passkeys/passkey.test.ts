import { expect, test } from 'vitest';
import { parseNewPasskey, parseSigned } from '../../../src/access/passkeys/answer.ts';
import { passkeysAt } from '../../../src/access/passkeys/passkey.ts';
import { Authenticator } from '../../support/authenticator.ts';

test.each([
  ['https://console.example', 'console.example', 'https://console.example'],
  ['https://Console.Example:8443/', 'console.example', 'https://console.example:8443'],
  ['http://localhost:8080', 'localhost', 'http://localhost:8080'],
  ['http://console.localhost', 'console.localhost', 'http://console.localhost'],
])('at %s passkeys are for %s', (url, id, origin) => {
  expect(passkeysAt(url)).toEqual({ party: { id, origin } });
});

test.each([
  ['http://127.0.0.1:8080', 'name'],
  ['https://192.0.2.7', 'name'],
  ['https://[2001:db8::1]:8443', 'name'],
  ['http://[::1]:8080', 'name'],
  ['http://console.example', 'tls'],
  ['http://localhost.example', 'tls'],
] as const)('at %s there are none: it lacks a %s', (url, lacks) => {
  expect(passkeysAt(url)).toEqual({ party: undefined, lacks });
});

const authenticator = new Authenticator('http://localhost');
const made = JSON.parse(
  authenticator.make({ user: { id: 'AAAA' }, rp: { id: 'localhost' }, challenge: 'c' }),
);
const signed = JSON.parse(authenticator.sign({ rpId: 'localhost', challenge: 'c' }));

test('an answer is read as far as it is needed, and no further', () => {
  const read = parseNewPasskey(JSON.stringify({ ...made, more: 1, authenticatorAttachment: 'x' }));
  expect(read).toMatchObject({ challenge: 'c', transports: ['internal'] });
  expect(read!.credential.toString('base64url')).toBe(made.id);
  expect(Object.keys(read!.response).sort()).toEqual([
    'clientExtensionResults',
    'id',
    'rawId',
    'response',
    'type',
  ]);
  expect(parseSigned(JSON.stringify(signed))).toMatchObject({
    challenge: 'c',
    handle: Buffer.from('AAAA', 'base64url'),
  });
});

test.each([
  [{ transports: 'internal' }, []],
  [{ transports: ['usb', 7, '<b>', 'x'.repeat(21), 'nfc'] }, ['usb', 'nfc']],
  [{ transports: Array.from({ length: 50 }, () => 'usb') }, Array.from({ length: 10 }, () => 'usb')],
])('of the ways to the authenticator, only those are kept that can be: %j', (response, kept) => {
  const text = JSON.stringify({ ...made, response: { ...made.response, ...response } });
  expect(parseNewPasskey(text)!.transports).toEqual(kept);
});

const clientData = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test.each([
  { id: 'AB' },
  { id: '', rawId: '' },
  { id: 7, rawId: 7 },
  { id: 'a+b=', rawId: 'a+b=' },
  { id: 'A'.repeat(1366), rawId: 'A'.repeat(1366) },
  { type: 'password' },
  { response: null },
  { response: [] },
  { response: { ...signed.response, signature: 7 } },
  { response: { ...signed.response, signature: undefined } },
  { response: { ...signed.response, authenticatorData: '<>' } },
  { response: { ...signed.response, userHandle: 7 } },
  { response: { ...signed.response, clientDataJSON: 'bm9uZQ' } },
  { response: { ...signed.response, clientDataJSON: clientData(null) } },
  { response: { ...signed.response, clientDataJSON: clientData({ challenge: 7 }) } },
  { response: { ...signed.response, clientDataJSON: clientData({ challenge: 'c', crossOrigin: true }) } },
])('no answer: %j', (change) => {
  expect(parseSigned(JSON.stringify({ ...signed, ...change }))).toBeUndefined();
});

test('an answer of more than 32 KiB is not read', () => {
  const longest = JSON.stringify(signed).padEnd(32 * 1024);
  expect([parseSigned(longest)?.challenge, parseSigned(`${longest} `)]).toEqual(['c', undefined]);
});
