import { afterEach, describe, expect, test, vi } from 'vitest';
import { KeyRate } from '../../../src/access/keys/key-rate.ts';
import type { TenantId, TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { limitedCaller } from '../../support/tenants.ts';

const caller = (keyId: string, max: number) => ({
  ...limitedCaller(1n as TenantId, { limits: { key_requests_per_minute: max } }),
  keyId,
});

afterEach(() => {
  vi.useRealTimers();
});

describe('requests with one key', () => {
  test('beyond the limit are refused until the minute ends, those with another key are not', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const rate = new KeyRate();
    rate.count(caller('one', 2));
    vi.advanceTimersByTime(15_000);
    rate.count(caller('one', 2));
    expect(() => rate.count(caller('one', 2))).toThrow(
      expect.objectContaining({
        kind: 'too_many_requests',
        message: 'limit reached: at most 2 requests a minute with one API key',
        metadata: { limit: 'key_requests_per_minute', max: '2' },
        retryAfter: 45,
      }),
    );
    rate.count(caller('other', 2));
    vi.advanceTimersByTime(45_000);
    rate.count(caller('one', 2));
  });

  test.each([
    ['pending', 12_000],
    ['active', 60_000],
  ] as const)('of a tenant that is %s: %i', (status: TenantStatus, max) => {
    const rate = new KeyRate(Number.POSITIVE_INFINITY);
    const own = { ...limitedCaller(1n as TenantId, { status }), keyId: 'one' };
    for (let count = 0; count < max; count += 1) rate.count(own);
    expect(() => rate.count(own)).toThrow(expect.objectContaining({ kind: 'too_many_requests' }));
  });
});
