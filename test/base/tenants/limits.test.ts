import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { assertBelowLimit, LIMIT_MAX, limitOf, parseLimit } from '../../../src/base/tenants/limits.ts';
import { TENANT_STATUSES } from '../../../src/base/tenants/tenant.ts';

const ROOMS = { name: 'rooms', pending: 1_000, active: 10_000, unit: 'live rooms' };

test.each([
  ['1', 1],
  [String(LIMIT_MAX), LIMIT_MAX],
  ['0', undefined],
  [String(LIMIT_MAX + 1), undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['', undefined],
])('a limit of %j is %s', (text, limit) => {
  expect(parseLimit(text)).toBe(limit);
});

describe('limitOf', () => {
  test.each(TENANT_STATUSES)('a tenant that is %s has the limits of its status', (status) => {
    const max = status === 'pending' ? 1_000 : 10_000;
    expect(limitOf({ status, limits: null }, ROOMS)).toBe(max);
    expect(limitOf({ status, limits: { bans: 5 } }, ROOMS)).toBe(max);
  });

  test.each(TENANT_STATUSES)('what an operator set comes first, also while %s', (status) => {
    expect(limitOf({ status, limits: { rooms: 5 } }, ROOMS)).toBe(5);
  });
});

describe('assertBelowLimit', () => {
  const tenant = { status: 'active', limits: { rooms: 5 } } as const;

  test('passes below the limit only', () => {
    expect(() => assertBelowLimit(tenant, ROOMS, 4)).not.toThrow();
    expect(() => assertBelowLimit(tenant, ROOMS, 5)).toThrow(Failure);
    expect(() => assertBelowLimit(tenant, ROOMS, 6)).toThrow('limit reached: at most 5 live rooms');
  });
});
