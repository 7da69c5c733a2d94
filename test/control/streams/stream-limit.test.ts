import { describe, expect, test } from 'vitest';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { StreamLimit } from '../../../src/control/streams/stream-limit.ts';
import { limitedCaller } from '../../support/tenants.ts';

const tenant = (number: number, status: TenantStatus = 'active') =>
  limitedCaller(BigInt(number) as TenantId, { status });
const pending = (number: number) => tenant(number, 'pending');
const tooMany = expect.objectContaining({ kind: 'too_many_streams' });

describe('streams', () => {
  test.each([
    ['active', 100],
    ['suspended', 100],
    ['pending', 5],
  ] as const)('of a tenant that is %s: %i', (status, max) => {
    const limit = new StreamLimit();
    const leaves = Array.from({ length: max }, () => limit.enter(tenant(1, status)));
    expect(() => limit.enter(tenant(1, status))).toThrow(tooMany);
    const leaveOther = limit.enter(tenant(2, status));
    leaves.pop()!();
    leaves.push(limit.enter(tenant(1, status)));
    expect(() => limit.enter(tenant(1, status))).toThrow(tooMany);
    leaveOther();
  });

  test('of a tenant whose limit an operator changed', () => {
    const limit = new StreamLimit();
    const caller = limitedCaller(1n as TenantId, { limits: { event_streams: 1 } });
    limit.enter(caller);
    expect(() => limit.enter(caller)).toThrow(
      expect.objectContaining({
        message: 'limit reached: at most 1 open event streams',
        metadata: { limit: 'event_streams', max: '1' },
      }),
    );
  });

  test('of pages of the console and of machines take no places of each other', () => {
    const limit = new StreamLimit();
    for (let page = 0; page < 10; page += 1) limit.enterPage(pending(1));
    expect(() => limit.enterPage(pending(1))).toThrow(
      expect.objectContaining({
        kind: 'too_many_streams',
        metadata: { limit: 'console_streams', max: '10' },
      }),
    );
    for (let stream = 0; stream < 5; stream += 1) limit.enter(pending(1));
    limit.enterPage(tenant(2))();
  });

  test('of a process: 1,000', () => {
    const limit = new StreamLimit();
    const leaves = Array.from({ length: 1_000 }, (_, at) => limit.enter(tenant(at % 20)));
    expect(() => limit.enter(tenant(99))).toThrow(tooMany);
    leaves.pop()!();
    limit.enter(tenant(99));
  });

  test('of tenants that are not active: half of the process, the rest is for active tenants', () => {
    const limit = new StreamLimit();
    for (let at = 0; at < 500; at += 1) limit.enter(pending(at));
    expect(() => limit.enter(pending(501))).toThrow(tooMany);
    expect(() => limit.enter(tenant(501, 'suspended'))).toThrow(tooMany);
    for (let at = 0; at < 500; at += 1) limit.enter(tenant(1_000 + at));
    expect(() => limit.enter(tenant(2_000))).toThrow(tooMany);
  });
});
