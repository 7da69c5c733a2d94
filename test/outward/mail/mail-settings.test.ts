import { describe, expect, test } from 'vitest';
import { parseMailSender } from '../../../src/outward/mail/mail-sender.ts';
import { DEFAULT_SETTINGS, recipientsOf } from '../../../src/outward/mail/mail-settings.ts';
import { cleanText } from '../../../src/outward/mail/mail-text.ts';

describe('a sender', () => {
  test.each([
    ['a@b.co', { name: '', address: 'a@b.co' }],
    ['Box Office <a@b.co>', { name: 'Box Office', address: 'a@b.co' }],
    ['"Box, Office" <a@b.co>', { name: 'Box, Office', address: 'a@b.co' }],
  ])('is %s', (text, sender) => {
    expect(parseMailSender(text)).toEqual(sender);
  });

  test.each(['', 'Box Office', 'Box <b>', 'Box <a@b.co> x', 'Bo\nx <a@b.co>', `${'x'.repeat(101)} <a@b.co>`])(
    'is not %j',
    (text) => {
      expect(parseMailSender(text)).toBeUndefined();
    },
  );
});

describe('recipients', () => {
  const all = {
    ...DEFAULT_SETTINGS,
    email: 'Ada@example.com',
    addresses: ['b@example.com'],
    unsubscribed: [],
    owners: [],
    reachable: null,
  };

  test('are the address of the signup and the others, each once', () => {
    expect(recipientsOf(all, 'alert')).toEqual(['Ada@example.com', 'b@example.com']);
    const twice = { ...all, addresses: ['ada@EXAMPLE.com', 'b@example.com'] };
    expect(recipientsOf(twice, 'receipt')).toEqual(['Ada@example.com', 'b@example.com']);
    expect(recipientsOf({ ...all, signupAddress: false }, 'alert')).toEqual(['b@example.com']);
  });

  test('who unsubscribed get receipts only', () => {
    const some = { ...all, unsubscribed: ['ada@example.com'] };
    expect(recipientsOf(some, 'alert')).toEqual(['b@example.com']);
    expect(recipientsOf(some, 'receipt')).toEqual(['Ada@example.com', 'b@example.com']);
  });

  test('of mail about the account are its owners, whatever the settings, or else the address of the signup', () => {
    const off = { ...all, alerts: false, receipts: false, unsubscribed: ['o@example.com'] };
    expect(recipientsOf({ ...off, owners: ['o@example.com'] }, 'account')).toEqual(['o@example.com']);
    expect(recipientsOf(off, 'account')).toEqual(['Ada@example.com']);
  });

  test('are nobody for a kind that is off', () => {
    expect(recipientsOf({ ...all, alerts: false }, 'alert')).toEqual([]);
    expect(recipientsOf({ ...all, receipts: false }, 'receipt')).toEqual([]);
  });
});

test.each([
  ['a\r\nBcc: b', 'a Bcc: b'],
  ['a\u2028b\u0000c\u202ed', 'a b c d'],
  ['  a \t b ', 'a b'],
  ['x'.repeat(300), `${'x'.repeat(199)}…`],
])('foreign text %j is shown as %j', (text, shown) => {
  expect(cleanText(text)).toBe(shown);
});
