/** The pause of automatic top-ups after a refund or dispute. */
import { describe, expect, it } from 'vitest';
import { unfreezeTopUps } from '../../../src/money/top-ups/unfreeze-top-ups.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

const ON = { enabled: true, below_cents: 500, amount_cents: 2000 };

/** A tenant whose automatic top-up of $20 was charged; its balance is $24. */
async function charged(): Promise<{ tenant: TestTenant; payment: string }> {
  const tenant = await kit.toppedUp();
  await kit.spend(tenant, 600);
  const { payment_id } = await kit.finished(tenant);
  return { tenant, payment: payment_id! };
}

async function refunded(): Promise<{ tenant: TestTenant; payment: string; refund: string }> {
  const { tenant, payment } = await charged();
  const refund = app.sandbox.control.refund(payment);
  await app.settled();
  expect(await kit.balanceOf(tenant)).toBe(4_000_000);
  return { tenant, payment, refund: refund.id };
}

async function errorOf(tenant: TestTenant): Promise<string | undefined> {
  return (await kit.billing(tenant)).tenant.last_top_up_error;
}

/** Report usage. Returns how many automatic top-ups were opened because of it. */
async function openedByUsage(tenant: TestTenant): Promise<number> {
  const before = (await kit.attemptsOf(tenant)).length;
  await kit.spend(tenant, 1);
  await kit.finished(tenant);
  return (await kit.attemptsOf(tenant)).length - before;
}

const PAUSED =
  'Automatic top-ups are paused: a payment was refunded or disputed. Turn them on again to resume [payment_reversed].';
const FROZEN = 'Automatic top-ups are stopped: a payment was disputed or reported as fraud [frozen].';

describe('after the refund of a top-up', () => {
  it('nothing is charged until the tenant turns automatic top-up on again', async () => {
    const { tenant } = await refunded();
    expect(await openedByUsage(tenant)).toBe(0);
    expect(await errorOf(tenant)).toBe(PAUSED);
    const put = await kit.setTopUp(tenant, ON);
    expect(put).not.toHaveProperty('last_top_up_error');
    expect(await openedByUsage(tenant)).toBe(1);
    expect(await kit.topUpIntents(tenant)).toHaveLength(2);
  });

  it('a paid checkout does not end the pause', async () => {
    const { tenant } = await refunded();
    await app.pay(tenant, { cents: 1000 });
    expect(await errorOf(tenant)).toBe(PAUSED);
    await kit.spend(tenant, 1000);
    expect(await openedByUsage(tenant)).toBe(0);
  });

  it('the pause ends if the refund fails', async () => {
    const { tenant, refund } = await refunded();
    app.sandbox.control.settleRefund(refund, 'failed');
    await app.settled();
    expect(await errorOf(tenant)).toBeUndefined();
    await kit.spend(tenant, 1500);
    await kit.spend(tenant, 501);
    await kit.finished(tenant);
    expect(await kit.topUpIntents(tenant)).toHaveLength(2);
  });

  it('the pause ends when an operator unfreezes automatic top-ups', async () => {
    const { tenant } = await refunded();
    await unfreezeTopUps(db(), OPERATOR, kit.idOf(tenant));
    expect(await errorOf(tenant)).toBeUndefined();
    expect(await openedByUsage(tenant)).toBe(1);
  });

  it('a second refund of the same payment pauses again', async () => {
    const { tenant, payment } = await charged();
    app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    await kit.setTopUp(tenant, ON);
    app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    expect(await errorOf(tenant)).toBe(PAUSED);
  });

  it('a tenant without automatic top-up reads no error', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 2000 });
    app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    expect(await errorOf(tenant)).toBeUndefined();
  });
});

describe('after the dispute of a top-up', () => {
  it('nothing is charged, not even when automatic top-up is turned on again', async () => {
    const { tenant, payment } = await charged();
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await errorOf(tenant)).toBe(FROZEN);
    await kit.setTopUp(tenant, ON);
    expect(await openedByUsage(tenant)).toBe(0);
    expect(await errorOf(tenant)).toBe(FROZEN);
    app.sandbox.control.loseDispute(dispute.id);
    await app.settled();
    expect(await openedByUsage(tenant)).toBe(0);
  });

  it('the pause ends when the dispute is won and the money is back', async () => {
    const { tenant, payment } = await charged();
    const dispute = app.sandbox.control.dispute(payment);
    app.sandbox.control.winDispute(dispute.id);
    await app.settled();
    expect(await errorOf(tenant)).toBeUndefined();
    await kit.spend(tenant, 1500);
    await kit.spend(tenant, 501);
    await kit.finished(tenant);
    expect(await kit.topUpIntents(tenant)).toHaveLength(2);
  });
});
