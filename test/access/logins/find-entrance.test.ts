import { expect, test } from 'vitest';
import { nextPageOf } from '../../../src/access/logins/find-entrance.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';

test.each([
  ['/console', undefined, '/console'],
  ['/console', 255n, '/console?passed_over=t_00000000000000ff'],
  ['/console/ledger?kind=usage', 255n, '/console/ledger?kind=usage&passed_over=t_00000000000000ff'],
])('a log-in for %s that passed over %s begins with %s', (next, passedOver, page) => {
  expect(nextPageOf({ passedOver: passedOver as TenantId | undefined }, next)).toBe(page);
});
