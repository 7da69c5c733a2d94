/** An attempt of unknown outcome, whose process died, is looked at again: may it still be sent? */
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { OTHER_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

/** A tenant whose attempt to charge $500 was lost on the way to the provider. */
async function lostAttempt({ hoursAgo = 0.1 } = {}): Promise<{ tenant: TestTenant; id: string }> {
  const tenant = await kit.toppedUp({ below: 5000, amount: 50_000 });
  const id = await kit.abandonedAttempt(tenant, { cents: 50_000, hoursAgo, leaseSeconds: 3600 });
  return { tenant, id };
}

async function paymentOf(tenant: TestTenant): Promise<string> {
  const { rows } = await db().query('select id from payments where tenant_id = $1', [kit.idOf(tenant)]);
  return rows[0].id;
}

type Change = (tenant: TestTenant) => Promise<unknown>;

const WITHDRAWALS: [string, Change, string][] = [
  ['automatic top-up was turned off', (tenant) => kit.setTopUp(tenant, { enabled: false }), 'turned_off'],
  [
    'the tenant was suspended',
    (tenant) => changeStatus(db(), OPERATOR, kit.idOf(tenant), 'suspended', 'test'),
    'tenant_not_active',
  ],
  [
    'the tenant was deleted',
    (tenant) => changeStatus(db(), OPERATOR, kit.idOf(tenant), 'deleted', 'test'),
    'tenant_not_active',
  ],
  [
    'a dispute froze it',
    async (tenant) => app.sandbox.control.dispute(await paymentOf(tenant), { inquiry: true }),
    'frozen',
  ],
  [
    'a payment was refunded',
    async (tenant) => app.sandbox.control.refund(await paymentOf(tenant), { amount: 100 }),
    'payment_reversed',
  ],
  [
    'the card was removed',
    async (tenant) => app.sandbox.control.detachCard((await kit.settingsOf(tenant)).payment_method_id!),
    'card_removed',
  ],
];

describe('an attempt of unknown outcome', () => {
  it.each(WITHDRAWALS)('is canceled and not sent again when %s', async (_, withdraw, code) => {
    const { tenant, id } = await lostAttempt();
    await withdraw(tenant);
    await app.settled();
    await kit.makeDue(tenant);
    const error = expect.stringMatching(
      new RegExp(`^The top-up was canceled before it was charged: .* \\[${code}\\]\\.$`),
    );
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'canceled', error });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
    expect(await kit.settingsOf(tenant)).toMatchObject({ last_top_up_error: error, paused_hours: null });
  });

  it.each(WITHDRAWALS)('that was charged all the same is credited when %s', async (_, withdraw) => {
    const { tenant, id } = await lostAttempt();
    await kit.chargeBehind(tenant, id, 50_000);
    await withdraw(tenant);
    await app.settled();
    const before = await kit.balanceOf(tenant);
    await kit.makeDue(tenant);
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'succeeded' });
    expect(await kit.balanceOf(tenant)).toBe(before + 500_000_000);
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it.each<[string, Change, number]>([
    [
      'another amount',
      (tenant) => kit.setTopUp(tenant, { enabled: true, below_cents: 5000, amount_cents: 1000 }),
      1000,
    ],
    ['another card', (tenant) => app.pay(tenant, { cents: 1000, card: OTHER_CARD }), 50_000],
  ])('is replaced by one with the new settings when the tenant chose %s', async (_, change, cents) => {
    const { tenant, id } = await lostAttempt();
    await change(tenant);
    await kit.makeDue(tenant);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    const [lost, next] = await kit.attemptsOf(tenant);
    expect(lost).toMatchObject({ id, state: 'canceled', error: 'its amount or card was changed' });
    const { payment_method_id: payment_method } = await kit.settingsOf(tenant);
    expect(await kit.topUpIntents(tenant)).toMatchObject([
      { id: next!.payment_id, amount: cents, payment_method },
    ]);
  });

  it.each<[string, Change]>([
    ['the balance is above the threshold', (tenant) => app.pay(tenant, { cents: 10_000 })],
    [
      'the threshold is below the balance',
      (tenant) => kit.setTopUp(tenant, { enabled: true, below_cents: 100, amount_cents: 50_000 }),
    ],
    ['the tenant is exempt', (tenant) => setExempt(db(), OPERATOR, kit.idOf(tenant), true)],
  ])('is canceled without an error when %s', async (_, change) => {
    const { tenant } = await lostAttempt();
    await change(tenant);
    await kit.makeDue(tenant);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', error: 'no longer due' });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
    expect(await kit.settingsOf(tenant)).toMatchObject({ last_top_up_error: null });
  });

  it('stays open while its last request may still become a charge', async () => {
    const { tenant, id } = await lostAttempt({ hoursAgo: 0 });
    await kit.setTopUp(tenant, { enabled: false });
    await kit.makeDue(tenant);
    const attempt = async () => (await kit.attemptsOf(tenant))[0]!;
    await expect.poll(async () => (await attempt()).sends).toBeGreaterThan(1);
    expect(await attempt()).toMatchObject({ id, state: 'unknown' });
    await kit.hoursPass(0.04);
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'canceled' });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
  });

  it('stays open if another process sends it again while this one decides', async () => {
    const { tenant, id } = await lostAttempt();
    await kit.setTopUp(tenant, { enabled: false });
    const attempt = async () => (await kit.attemptsOf(tenant))[0]!;
    await inTransaction(db(), async (tx) => {
      await lockAccount(tx, kit.idOf(tenant));
      await kit.makeDue(tenant);
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      await db().query('update top_up_attempts set resent_at = clock_timestamp() where id = $1', [id]);
    });
    await expect.poll(async () => (await attempt()).sends).toBeGreaterThan(1);
    expect(await attempt()).toMatchObject({ id, state: 'unknown' });
    await kit.hoursPass(0.04);
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'canceled' });
  });
});

it('an attempt that was not sent yet takes the amount that is set when it is sent', async () => {
  const tenant = await kit.toppedUp({ below: 5000, amount: 50_000 });
  const id = 'tu_00000000000000000000000000000011';
  const later = `now() + interval '1 hour'`;
  await db().query(
    `insert into top_up_attempts (id, tenant_id, amount, next_at) values ($1, $2, 500000000, ${later})`,
    [id, kit.idOf(tenant)],
  );
  await kit.setTopUp(tenant, { enabled: true, below_cents: 5000, amount_cents: 1000 });
  await kit.makeDue(tenant);
  expect(await kit.finished(tenant)).toMatchObject({ id, state: 'succeeded' });
  expect(await kit.topUpIntents(tenant)).toMatchObject([{ amount: 1000 }]);
});
