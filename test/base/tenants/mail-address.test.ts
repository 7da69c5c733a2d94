import { describe, expect, test } from 'vitest';
import { isMailAddress } from '../../../src/base/tenants/mail-address.ts';

/** An address of 254 characters, the longest that is allowed. */
const LONGEST = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.de`;

describe('an address', () => {
  test.each([
    'a@b.co',
    "o'neil+tag=1@mail.example.com",
    'A.B@EXAMPLE.COM',
    'first.last@xn--bcher-kva.example',
    'r&d@example.com',
    '1_a-b~c@example.com',
    LONGEST,
  ])('is %s', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  test.each([
    '',
    '@',
    'a',
    'a@',
    '@b.co',
    'a@b',
    'a b@c.co',
    'a@b..co',
    '.a@b.co',
    'a.@b.co',
    'a@-b.co',
    'a@b-.co',
    'a@b.co.',
    'a@b.co\n',
    'a@b.co\r\nBcc: e@f.gh',
    '\na@b.co',
    'a\0@b.co',
    'a@b.co,c@d.ef',
    '<a@b.co>',
    'A <a@b.co>',
    '"a"@b.co',
    'ä@b.co',
    'a@ä.co',
    'a@b@c.co ',
    'a@[127.0.0.1]',
    '|cmd@b.co',
    'a|cmd@b.co',
    'a!b@c.co',
    'host!a@b.co',
    'a%b.co@c.co',
    '%a@b.co',
    '/etc/passwd@b.co',
    '-oQ/tmp@b.co',
    ':include:/etc/passwd@b.co',
    '@a.co,@b.co:c@d.co',
    '"|cmd"@b.co',
    'a\\b@c.co',
    'a;b@c.co',
    'a(b)@c.co',
    `a${LONGEST}`,
    `${LONGEST}e`,
  ])('is not %j', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });
});
