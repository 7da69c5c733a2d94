import { describe, expect, test } from 'vitest';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { FollowerLimit } from '../../../src/control/revocations/follower-limit.ts';
import { limitedCaller } from '../../support/tenants.ts';

const refusal = expect.objectContaining({ kind: 'too_many_streams', retryAfter: 5 });

test('200 polls of one network at a time; an IPv6 network is a /64', () => {
  const limit = new FollowerLimit(10_000);
  const leave = Array.from({ length: 200 }, (_, index) => limit.enter(`2001:db8::${index}`))[0]!;
  expect(() => limit.enter('2001:db8::1')).toThrow(refusal);
  limit.enter('2001:db8:0:1::1');
  leave();
  limit.enter('2001:db8::1');
  expect(() => limit.enter('2001:db8::1')).toThrow(refusal);
});

test('four tenths of the connections in all', () => {
  const limit = new FollowerLimit(10_000);
  const enter = (index: number) => limit.enter(`192.0.${Math.floor(index / 100)}.1`);
  const leaves = Array.from({ length: 4_000 }, (_, index) => enter(index));
  expect(() => limit.enter('198.51.100.1')).toThrow(refusal);
  for (const leave of leaves) leave();
  for (let index = 0; index < 4_000; index += 1) enter(index);
  expect(() => limit.enter('198.51.100.1')).toThrow(refusal);
});

describe('streams with a relay key', () => {
  const tenant = (number: number, status: TenantStatus = 'active') =>
    limitedCaller(BigInt(number) as TenantId, { status });

  test.each([
    ['active', 2_000],
    ['pending', 20],
  ] as const)('of a tenant that is %s: %i, from any address', (status, max) => {
    const limit = new FollowerLimit(10_000);
    const leaves = Array.from({ length: max }, () => limit.enter('192.0.2.1', tenant(1, status)));
    expect(() => limit.enter('198.51.100.1', tenant(1, status))).toThrow(refusal);
    limit.enter('192.0.2.1', tenant(2, status));
    limit.enter('192.0.2.1');
    leaves[0]!();
    limit.enter('192.0.2.1', tenant(1, status));
  });

  test('have places that neither strangers nor tenants that never paid can take', () => {
    const limit = new FollowerLimit(10_000);
    for (let index = 0; index < 4_000; index += 1) limit.enter(`192.0.${Math.floor(index / 100)}.1`);
    for (let index = 0; index < 2_000; index += 1) limit.enter('192.0.2.1', tenant(index, 'pending'));
    expect(() => limit.enter('192.0.2.1', tenant(9_999, 'pending'))).toThrow(refusal);
    for (let index = 0; index < 6_000; index += 1) limit.enter('192.0.2.1', tenant(10_000 + index));
    expect(() => limit.enter('192.0.2.1', tenant(9_999))).toThrow(refusal);
  });
});
