import { expect, test } from 'vitest';
import { parseSmtpUrl, requiresTls } from '../../../src/outward/mail/smtp-server.ts';

test.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, auth: undefined }],
  ['smtps://mail.example.com/', { host: 'mail.example.com', port: 465, secure: true, auth: undefined }],
  ['smtp://[::1]:2525', { host: '::1', port: 2525, secure: false, auth: undefined }],
  [
    'smtp://a%40b:p%2Fw@h.example',
    { host: 'h.example', port: 587, secure: false, auth: { user: 'a@b', pass: 'p/w' } },
  ],
])('%s is understood', (text, server) => {
  expect(parseSmtpUrl(text)).toEqual(server);
});

test.each([
  '',
  'mail.example.com',
  'http://mail.example.com',
  'smtp://',
  'smtp://h/path',
  'smtp://h?pool=true',
  'smtp://h#x',
  'smtp://user@h',
  'smtp://:pw@h',
  'smtp://a:%zz@h',
  'smtp://h:99999',
])('%s is not', (text) => {
  expect(parseSmtpUrl(text)).toBeUndefined();
});

test.each([
  ['smtp://mail.example.com', false],
  ['smtp://user:pw@mail.example.com', true],
  ['smtps://user:pw@mail.example.com', false],
  ['smtp://user:pw@127.0.0.1', false],
  ['smtp://user:pw@localhost', false],
])('%s requires STARTTLS: %s', (text, required) => {
  expect(requiresTls(parseSmtpUrl(text)!)).toBe(required);
});
