import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  admits,
  newTenantId,
  operatorMayMove,
  parseTenantId,
  renderTenantId,
  TENANT_STATUSES,
  type TenantId,
} from '../../../src/base/tenants/tenant.ts';

describe('ids', () => {
  test.each([
    [0n, 't_0000000000000000'],
    [1n, 't_0000000000000001'],
    [2n ** 63n - 1n, 't_7fffffffffffffff'],
    [-(2n ** 63n), 't_8000000000000000'],
    [-1n, 't_ffffffffffffffff'],
  ])('%d is %s, there and back', (id, text) => {
    expect(renderTenantId(id as TenantId)).toBe(text);
    expect(parseTenantId(text)).toBe(id);
  });

  test('any 64 bits survive the round trip', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(parseTenantId(renderTenantId(id as TenantId))).toBe(id);
      }),
    );
  });

  test('new ones have the specified form and differ', () => {
    const ids = Array.from({ length: 1000 }, () => renderTenantId(newTenantId()));
    for (const id of ids) expect(id).toMatch(/^t_[0-9a-f]{16}$/);
    expect(new Set(ids).size).toBe(1000);
  });

  test.each([
    '',
    't_',
    't_0',
    't_00000000000000000',
    't_000000000000000g',
    'T_0000000000000000',
    't_ABCDEF0000000000',
    ' t_0000000000000000',
    't_0000000000000000\n',
  ])('%j is none', (text) => {
    expect(parseTenantId(text)).toBeUndefined();
  });
});

describe('operatorMayMove', () => {
  const moves = TENANT_STATUSES.flatMap((from) => TENANT_STATUSES.map((to) => [from, to] as const));
  const allowed = new Set([
    'pending deleted',
    'active suspended',
    'active archived',
    'active deleted',
    'suspended active',
    'suspended archived',
    'suspended deleted',
    'archived active',
    'archived deleted',
  ]);

  test.each(moves)('%s to %s', (from, to) => {
    expect(operatorMayMove(from, to)).toBe(allowed.has(`${from} ${to}`));
  });
});

describe('admits', () => {
  test.each([
    ['active', false, 1n, true],
    ['active', false, 0n, false],
    ['active', false, -1n, false],
    ['active', true, 0n, true],
    ['active', true, -1n, true],
    ['pending', false, 1n, false],
    ['pending', true, 1n, false],
    ['suspended', true, 1n, false],
    ['archived', false, 1n, false],
    ['deleted', true, 1n, false],
  ] as const)('%s, exempt %s, balance %d: %s', (status, exempt, balance, expected) => {
    expect(admits({ status, exempt }, balance)).toBe(expected);
  });
});
