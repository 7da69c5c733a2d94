import { describe, expect, test } from 'vitest';
import { parseRange } from '../../../src/base/lib/address.ts';
import { parseWebhookUrl } from '../../../src/outward/webhooks/webhook-url.ts';

/** The field and the message of the failure. */
function refusalOf(text: string, ranges: readonly string[] = []): string {
  try {
    return `accepted: ${
      parseWebhookUrl(
        text,
        ranges.map((each) => parseRange(each)!),
      ).href
    }`;
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalid_request', field: 'url' });
    return (error as Error).message.replace('invalid request: url ', '');
  }
}

test.each([
  ['https://x.example', 'https://x.example/'],
  ['https://x.example:8443/hook?a=b%20c', 'https://x.example:8443/hook?a=b%20c'],
  ['HTTPS://X.Example:443/Hook', 'https://x.example/Hook'],
  ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
  ['https://1.1.1.1/', 'https://1.1.1.1/'],
  ['https://[2606:4700::1111]:65535/', 'https://[2606:4700::1111]:65535/'],
  [`https://x.example/${'a'.repeat(2030)}`, `https://x.example/${'a'.repeat(2030)}`],
])('%s is accepted', (text, href) => {
  expect(refusalOf(text)).toBe(`accepted: ${href}`);
});

const SHAPE = 'must be a URL such as https://x.example/hook';

test.each([
  ['', SHAPE],
  ['x.example', SHAPE],
  ['//x.example/', SHAPE],
  ['https:x.example', SHAPE],
  ['https:/x.example', SHAPE],
  ['https:\\\\x.example', SHAPE],
  ['https://x.example\\@10.0.0.1/', SHAPE],
  [' https://x.example', SHAPE],
  ['https://x.example/a b', SHAPE],
  ['https://x.exa\tmple/', SHAPE],
  ['https://x.example/\n', SHAPE],
  ['https://x.example/\0', SHAPE],
  ['https://', SHAPE],
  ['https://x.example:0/', SHAPE],
  ['https://x.example:65536/', SHAPE],
  ['https://x.example:-1/', SHAPE],
  ['https://[::1/', SHAPE],
  ['https://[fe80::1%25eth0]/', SHAPE],
  ['https://256.1.1.1/', SHAPE],
  ['ftp://x.example/', SHAPE],
  ['file:///etc/passwd', SHAPE],
  ['javascript:alert(1)', SHAPE],
  ['http://x.example/', 'must begin with https://'],
  ['http://1.1.1.1/', 'must begin with https://'],
  ['https://user@x.example/', 'must have no user name or password'],
  ['https://user:secret@x.example/', 'must have no user name or password'],
  ['https://:secret@x.example/', 'must have no user name or password'],
  ['https://x.example/#part', 'must have no fragment'],
  ['https://x.example/#', 'must have no fragment'],
  [`https://x.example/${'a'.repeat(2031)}`, 'must have at most 2048 characters'],
  [`https://x.example/${'ä'.repeat(1000)}`, 'must have at most 2048 characters once it is encoded'],
])('%s is refused', (text, message) => {
  expect(refusalOf(text)).toBe(message);
});

const notPublic = (address: string, kind: string) =>
  `must be on the public internet: ${address} is a ${kind} address`;

describe('an address in any form', () => {
  test.each([
    ['https://10.0.0.1/', notPublic('10.0.0.1', 'private')],
    ['https://169.254.169.254/latest/meta-data', notPublic('169.254.169.254', 'link-local')],
    ['https://2130706433/', notPublic('127.0.0.1', 'loopback')],
    ['https://0x7f000001/', notPublic('127.0.0.1', 'loopback')],
    ['https://0x7f.1/', notPublic('127.0.0.1', 'loopback')],
    ['https://0177.0.0.01/', notPublic('127.0.0.1', 'loopback')],
    ['https://127.1/', notPublic('127.0.0.1', 'loopback')],
    ['https://127.0.0.1./', notPublic('127.0.0.1', 'loopback')],
    ['https://%31%32%37.0.0.1/', notPublic('127.0.0.1', 'loopback')],
    ['https://１２７.0.0.1/', notPublic('127.0.0.1', 'loopback')],
    ['https://127。0。0。1/', notPublic('127.0.0.1', 'loopback')],
    ['https://0/', notPublic('0.0.0.0', 'reserved')],
    ['https://[::1]/', notPublic('::1', 'loopback')],
    ['https://[::]/', notPublic('::', 'reserved')],
    ['https://[::127.0.0.1]/', notPublic('::7f00:1', 'translated')],
    ['https://[::ffff:127.0.0.1]/', notPublic('::ffff:7f00:1', 'translated')],
    ['https://[64:ff9b::10.0.0.1]/', notPublic('64:ff9b::a00:1', 'translated')],
    ['https://[2002:0a00:0001::]/', notPublic('2002:a00:1::', 'translated')],
    ['https://[fd00:ec2::254]/', notPublic('fd00:ec2::254', 'private')],
  ])('%s is refused', (text, message) => {
    expect(refusalOf(text)).toBe(message);
  });
});

describe('with ranges that the operator allows', () => {
  const ranges = ['10.1.0.0/16', '::1'];

  test.each(['https://10.1.2.3/', 'http://10.1.2.3:8080/', 'http://[::1]:8080/', 'http://hooks.internal/'])(
    '%s is accepted',
    (text) => {
      expect(refusalOf(text, ranges)).toBe(`accepted: ${text}`);
    },
  );

  test.each([
    ['https://10.2.0.1/', notPublic('10.2.0.1', 'private')],
    ['http://10.2.0.1/', 'must begin with https://'],
    ['http://1.1.1.1/', 'must begin with https://'],
    ['ftp://10.1.2.3/', SHAPE],
  ])('%s is refused', (text, message) => {
    expect(refusalOf(text, ranges)).toBe(message);
  });
});
