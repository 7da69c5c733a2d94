import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  assertBelowLimit,
  LIMIT_MAX,
  limitOf,
  parseLimit,
  TENANT_LIMITS,
} from '../../../src/base/tenants/limits.ts';
import { TENANT_STATUSES } from '../../../src/base/tenants/tenant.ts';

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
    expect(limitOf({ status, limits: null }, 'rooms')).toBe(max);
    expect(limitOf({ status, limits: { bans: 5 } }, 'rooms')).toBe(max);
  });

  test.each(TENANT_STATUSES)('what an operator set comes first, also while %s', (status) => {
    expect(limitOf({ status, limits: { rooms: 5 } }, 'rooms')).toBe(5);
  });

  test('what a tenant that never paid may create is a tenth', () => {
    for (const name of [
      'api_keys',
      'device_credentials',
      'rooms',
      'room_watchdogs',
      'watchdogs',
      'bans',
    ] as const) {
      expect(TENANT_LIMITS[name].pending).toBe(TENANT_LIMITS[name].active / 10);
    }
  });
});

describe('assertBelowLimit', () => {
  const tenant = { status: 'active', limits: { rooms: 5 } } as const;

  test('passes below the limit only', () => {
    expect(() => assertBelowLimit(tenant, 'rooms', 4)).not.toThrow();
    expect(() => assertBelowLimit(tenant, 'rooms', 5)).toThrow(Failure);
    expect(() => assertBelowLimit(tenant, 'rooms', 6)).toThrow('limit reached: at most 5 live rooms');
  });
});

describe('docs/limits.md', () => {
  const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8');

  test('lists every limit as it is', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` +\| +([\d,]+) +\| +([\d,]+) +\| ([^|]+?) +\|/gm)];
    const number = (text: string | undefined) => Number(text!.replaceAll(',', ''));
    const listed = rows.map(([, name, pending, active, unit]) => [
      name,
      { pending: number(pending), active: number(active), unit },
    ]);
    expect(Object.fromEntries(listed)).toStrictEqual(TENANT_LIMITS);
    expect(listed).toHaveLength(Object.keys(TENANT_LIMITS).length);
  });
});
