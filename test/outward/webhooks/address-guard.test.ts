import { describe, expect, test } from 'vitest';
import { parseRange } from '../../../src/base/lib/address.ts';
import { findRefusedKind } from '../../../src/outward/webhooks/address-guard.ts';

test.each([
  ['0.0.0.0', 'reserved'],
  ['0.255.255.255', 'reserved'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'shared'],
  ['100.127.255.255', 'shared'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'translated'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'reserved'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'translated'],
  ['::8.8.8.8', 'translated'],
  ['::ffff:10.0.0.1', 'translated'],
  ['::ffff:8.8.8.8', 'translated'],
  ['::ffff:7f00:1', 'translated'],
  ['::ffff:0:127.0.0.1', 'translated'],
  ['64:ff9b::7f00:1', 'translated'],
  ['64:ff9b:1::a00:1', 'translated'],
  ['2001::1', 'translated'],
  ['2002:7f00:1::', 'translated'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'reserved'],
  ['2001:1ff::1', 'reserved'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['100::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['x.example', 'reserved'],
  ['0x7f.1', 'reserved'],
  ['', 'reserved'],
])('%s is refused as %s', (address, kind) => {
  expect(findRefusedKind(address, [])).toBe(kind);
});

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2606:4700::1111',
  '2a00:1450:4001:81b::200e',
])('%s is public', (address) => {
  expect(findRefusedKind(address, [])).toBeUndefined();
});

describe('ranges of the operator', () => {
  const allowed = [parseRange('10.1.0.0/16')!, parseRange('fd12::/16')!, parseRange('127.0.0.1')!];

  test.each(['10.1.2.3', 'fd12::5', '127.0.0.1', '10.1.255.255', '1.1.1.1'])('%s is allowed', (address) => {
    expect(findRefusedKind(address, allowed)).toBeUndefined();
  });

  test.each(['10.2.0.1', 'fd13::5', '127.0.0.2', '::ffff:10.1.2.3', '::127.0.0.1', '64:ff9b::a01:203'])(
    '%s stays refused',
    (address) => {
      expect(findRefusedKind(address, allowed)).toBeDefined();
    },
  );
});
