/** Which card is saved when checkouts settle late or out of order. */
import { describe, expect, it } from 'vitest';
import type { TestTenant } from '../../support/service.ts';
import { GOOD_CARD, OTHER_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app } = kit;

async function openCheckout(tenant: TestTenant): Promise<string> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 1000 },
  });
  expect(answer.status, answer.text).toBe(200);
  return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
}

async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await expect.poll(() => Math.floor(Date.now() / 1000), { interval: 10 }).not.toBe(second);
}

/** A tenant that opened two checkouts; events are held until they are released. */
async function twoCheckouts(): Promise<{ tenant: TestTenant; first: string; second: string }> {
  const tenant = await app.signUp();
  const [first, second] = [await openCheckout(tenant), await openCheckout(tenant)];
  app.sandbox.control.fault({ effect: 'reorder', event: '*', count: 99 });
  return { tenant, first, second };
}

function pay(session: string, card: string): string {
  return String(app.sandbox.control.pay(session, { card }).payment_method);
}

describe('the saved card', () => {
  it.each(['created', 'reversed'] as const)(
    'is that of the newer checkout if both were paid, settled in the order %s',
    async (order) => {
      const { tenant, first, second } = await twoCheckouts();
      pay(first, GOOD_CARD);
      const newest = pay(second, OTHER_CARD);
      await app.sandbox.control.release(order);
      await app.settled();
      expect(await kit.balanceOf(tenant)).toBe(20_000_000);
      expect((await kit.settingsOf(tenant)).payment_method_id).toBe(newest);
    },
  );

  it.each(['created', 'reversed'] as const)(
    'is that of the older checkout if it was paid later, settled in the order %s',
    async (order) => {
      const { tenant, first, second } = await twoCheckouts();
      pay(second, OTHER_CARD);
      await nextSecond();
      const newest = pay(first, GOOD_CARD);
      await app.sandbox.control.release(order);
      await app.settled();
      expect((await kit.settingsOf(tenant)).payment_method_id).toBe(newest);
    },
  );

  it('that was removed is not replaced by the card of an older checkout', async () => {
    const { tenant, first, second } = await twoCheckouts();
    pay(first, GOOD_CARD);
    app.sandbox.control.clearFaults();
    const newest = pay(second, OTHER_CARD);
    await app.settled();
    app.sandbox.control.detachCard(newest);
    await app.settled();
    await app.sandbox.control.release();
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect((await kit.settingsOf(tenant)).payment_method_id).toBeNull();
  });
});
