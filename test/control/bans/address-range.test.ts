import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddressRange, renderNetwork } from '../../../src/control/bans/address-range.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

describe('parseAddressRange', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['192.0.2.1/32', '192.0.2.1/32'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['2001:0DB8:0000::/48', '2001:db8::/48'],
    ['2001:db8:0:0:1:0:0:0/128', '2001:db8:0:0:1::/128'],
    ['2001::/16', '2001::/16'],
    ['::1/128', '::1/128'],
    ['64:ff9b::c000:200/120', '64:ff9b::c000:200/120'],
  ])('%s is %s', (text, canonical) => {
    expect(parseAddressRange(text)).toBe(canonical);
  });

  test.each([
    ['no prefix', '192.0.2.1'],
    ['no prefix', '2001:db8::'],
    ['no prefix', '192.0.2.0/'],
    ['no address', '/24'],
    ['nothing', ''],
    ['host bits', '192.0.2.1/24'],
    ['host bits', '192.0.2.128/24'],
    ['host bits', '2001:db8::1/64'],
    ['a zone', 'fe80::1%eth0/128'],
    ['IPv4-mapped', '::ffff:192.0.2.0/120'],
    ['IPv4-mapped', '::FFFF:c000:200/120'],
    ['IPv4-mapped', '0:0:0:0:0:ffff:c000:200/120'],
    ['IPv4-mapped, all', '::ffff:0:0/96'],
    ['IPv4-compatible', '::192.0.2.0/120'],
    ['IPv4-compatible', '::c000:200/120'],
    ['octal', '010.0.0.0/8'],
    ['octal', '192.00.2.0/24'],
    ['hexadecimal', '0xc0.0.2.0/24'],
    ['three parts', '192.0.2/24'],
    ['one number', '3221225984/24'],
    ['five parts', '192.0.2.0.0/24'],
    ['a part too large', '192.0.256.0/24'],
    ['nine groups', '1:2:3:4:5:6:7:8:9/128'],
    ['a long group', '2001:00db8::/32'],
    ['two gaps', '2001::db8::/32'],
    ['too wide', '0.0.0.0/0'],
    ['too wide', '10.0.0.0/7'],
    ['too wide', '2000::/15'],
    ['too wide', '::/0'],
    ['too narrow', '192.0.2.0/33'],
    ['too narrow', '2001:db8::/129'],
    ['too narrow', '2001:db8::/999'],
    ['a prefix with a zero', '192.0.2.0/024'],
    ['a prefix with a sign', '192.0.2.0/+24'],
    ['a negative prefix', '192.0.2.0/-1'],
    ['a mask', '192.0.2.0/255.255.255.0'],
    ['two prefixes', '192.0.2.0/24/24'],
    ['a port', '192.0.2.0:80/24'],
    ['brackets', '[2001:db8::]/32'],
    ['spaces', ' 192.0.2.0/24'],
    ['a line end', '192.0.2.0/24\n'],
    ['NUL', '192.0.2.0/24\0'],
    ['other digits', '١٩٢.0.2.0/24'],
    ['words', 'everybody'],
  ])('%s is refused: %j', (_, text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  });

  const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
  const hex = fc.tuple(groups, fc.integer({ min: 16, max: 128 })).map(([list, bits]) => {
    const number = list.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
    const host = BigInt(128 - bits);
    const digits = ((number >> host) << host).toString(16).padStart(32, '0');
    return `${digits.match(/.{4}/g)!.join(':')}/${bits}`;
  });
  const dotted = fc.tuple(fc.nat(0xffffffff), fc.integer({ min: 8, max: 32 })).map(([number, bits]) => {
    const network = Number((BigInt(number) >> BigInt(32 - bits)) << BigInt(32 - bits));
    return `${[24, 16, 8, 0].map((shift) => (network >>> shift) & 255).join('.')}/${bits}`;
  });

  test('spells every range as PostgreSQL does', async () => {
    const texts = fc.sample(fc.oneof(hex, dotted), 3_000);
    const parsed = texts.map(parseAddressRange);
    const { rows } = await database.pool.query<{ printed: string }>(
      'select t::cidr::text as printed from unnest($1::text[]) with ordinality as u (t, n) order by n',
      [texts],
    );
    // Random ranges are hardly ever IPv4-mapped or IPv4-compatible.
    const isRefused = (text: string) => /^(0000:){5}(ffff:|0000:(?!0000))/.test(text);
    expect(texts.filter((text, at) => (parsed[at] === undefined) !== isRefused(text))).toEqual([]);
    const differing = rows.filter(({ printed }, at) => parsed[at] !== undefined && parsed[at] !== printed);
    expect(differing).toEqual([]);
  });

  test('accepts only what PostgreSQL accepts, and keeps a canonical spelling', async () => {
    const pieces = fc.constantFrom(
      '0',
      '1',
      '00',
      'ff',
      'ffff',
      '255',
      '256',
      ':',
      '::',
      '.',
      '/',
      '8',
      '16',
      '32',
      '%',
    );
    const noise = fc.array(pieces, { maxLength: 14 }).map((list) => list.join(''));
    const texts = fc
      .sample(fc.oneof(noise, fc.string({ maxLength: 20 }), hex, dotted), 20_000)
      .filter((text) => parseAddressRange(text) !== undefined);
    expect(texts.length).toBeGreaterThan(1_000);
    const taken = texts.map(parseAddressRange) as string[];
    expect(taken.map(parseAddressRange)).toEqual(taken);
    const { rows } = await database.pool.query<{ printed: string }>(
      'select t::cidr::text as printed from unnest($1::text[]) with ordinality as u (t, n) order by n',
      [texts],
    );
    expect(rows.map((row) => row.printed)).toEqual(taken);
  });
});

test.each([
  ['192.0.2.0/24', 'c0000200/24'],
  ['10.0.0.0/8', '0a000000/8'],
  ['2001:db8::/32', '20010db8000000000000000000000000/32'],
  ['::1/128', '00000000000000000000000000000001/128'],
])('the bits of %s are %s', (range, bits) => {
  expect(renderNetwork(range)).toBe(bits);
});
