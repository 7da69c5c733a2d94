import { describe, expect, test } from 'vitest';
import { ipv6NetworkOf, isWithin, networkOf, parseRange } from '../../../src/base/lib/address.ts';

describe('ipv6NetworkOf', () => {
  test.each([
    ['2001:db8:1:23ff::1', 48, '2001:db8:1::/48'],
    ['2001:db8:1:23ff::1', 56, '2001:db8:1:2300::/56'],
    ['2001:db8:1:23ff::1', 64, '2001:db8:1:23ff::/64'],
    ['192.0.2.1', 56, undefined],
    ['::ffff:192.0.2.1', 48, undefined],
    ['unknown', 48, undefined],
  ])('%s has the /%i %s', (address, bits, network) => {
    expect(ipv6NetworkOf(address, bits)).toBe(network);
  });
});

describe('networkOf', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
    ['192.0.2.1:443', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::ffff:ffff:ffff', '255.255.255.255'],
    ['::ffff:0:0', '0.0.0.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:65535', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['unknown', 'unknown'],
    ['', ''],
    ['192.0.2.256', '192.0.2.256'],
    ['::ffff:192.0.2.256', '::ffff:192.0.2.256'],
    ['2001:db8:::1', '2001:db8:::1'],
  ])('%s is of %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('addresses in one /64 are one network, others are not', () => {
    expect(networkOf('2001:db8:0:1::')).toBe(networkOf('2001:db8:0:1:ffff:ffff:ffff:ffff'));
    expect(networkOf('2001:db8:0:1::')).not.toBe(networkOf('2001:db8:0:2::'));
  });
});

describe('parseRange', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', '11.0.0.1'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['192.0.2.1/32', '::ffff:192.0.2.1', '192.0.2.0'],
    ['0.0.0.0/0', '203.0.113.9', '::1'],
    ['2001:db8::/48', '2001:db8:0:ffff::1', '2001:db8:1::'],
    ['::1', '::1', '::2'],
    ['::/0', '2001:db8::', '192.0.2.1'],
  ])('of %s holds %s and not %s', (range, inside, outside) => {
    const ranges = [parseRange(range)!];
    expect(isWithin(ranges, inside)).toBe(true);
    expect(isWithin(ranges, outside)).toBe(false);
    expect(isWithin(ranges, 'unknown')).toBe(false);
  });

  test.each([
    '',
    '*',
    '1',
    'true',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::/129',
    'a',
  ])('is undefined for %j', (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});
