/** Ends of grants beside payments: automatic top-ups and refunds. */
import { expect, test } from 'vitest';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { usePayments } from '../payments/support.ts';
import { endNow } from './support.ts';

const kit = usePayments();
const { app, db, idOf } = kit;

async function grant(tenant: TestTenant, amount: bigint): Promise<void> {
  const expiresAt = new Date(Date.now() + 20 * 86_400_000);
  await grantCredit(db(), OPERATOR, idOf(tenant), { amount, reason: 'a gift', expiresAt, key: undefined });
}

async function end(tenant: TestTenant): Promise<void> {
  await endNow(db(), idOf(tenant));
  await endGrants(app.service.deps);
}

test('an end takes the balance below the threshold of automatic top-ups, and the card is charged', async () => {
  const tenant = await app.paidTenant({ cents: 1000 });
  await grant(tenant, 5_000_000n);
  await kit.setTopUp(tenant, { enabled: true, below_cents: 1200, amount_cents: 2000 });
  await kit.spend(tenant, 100);
  await end(tenant);
  expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  expect(await kit.balanceOf(tenant)).toBe(30_000_000);
});

test('a refund takes back paid credit, and what was granted stays', async () => {
  const tenant = await app.paidTenant({ cents: 1000 });
  const { payment } = await app.pay(tenant, { cents: 2000 });
  await grant(tenant, 5_000_000n);
  app.sandbox.control.refund(payment, { amount: 2000 });
  await app.settled();
  await kit.spend(tenant, 200);
  expect(await kit.balanceOf(tenant)).toBe(13_000_000);
  await end(tenant);
  expect(await kit.balanceOf(tenant)).toBe(10_000_000);
});
