/** Ends of grants beside payments: automatic top-ups and refunds. */
import { expect, test } from 'vitest';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { usePayments } from '../payments/support.ts';
import { endNow } from './support.ts';

const kit = usePayments();
const { app, db, idOf } = kit;

/** Returns its id. */
async function grant(tenant: TestTenant, amount: bigint): Promise<string> {
  const expiresAt = new Date(Date.now() + 20 * 86_400_000);
  const given = { amount, reason: 'a gift', expiresAt, key: undefined };
  return (await grantCredit(db(), OPERATOR, idOf(tenant), given)).grant.id;
}

async function end(tenant: TestTenant): Promise<void> {
  await endNow(db(), idOf(tenant));
  await endGrants(app.service.deps);
}

const voidIt = (tenant: TestTenant, id: string) =>
  voidGrant(db(), OPERATOR, idOf(tenant), { id, reason: 'a mistake' });

test.each([
  ['an end', end],
  ['an operator who voids a grant', voidIt],
])(
  '%s takes the balance below the threshold of automatic top-ups, and the card is charged',
  async (_, act) => {
    const tenant = await app.paidTenant({ cents: 1000 });
    const id = await grant(tenant, 5_000_000n);
    await kit.setTopUp(tenant, { enabled: true, below_cents: 1200, amount_cents: 2000 });
    await kit.spend(tenant, 100);
    await act(tenant, id);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  },
);

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
