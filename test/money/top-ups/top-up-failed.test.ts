/** The event `top_up_failed`: once for each top-up or checkout that failed, however often that is reported. */
import { describe, expect, test } from 'vitest';
import { applyMissedEvents } from '../../../src/money/provider-events/event-sweeper.ts';
import { eventsOf } from '../../support/events.ts';
import type { TestTenant } from '../../support/service.ts';
import { DECLINES_LATER, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;
const CHARGE = { method: 'POST', path: '/v1/payment_intents' } as const;

/** The codes in brackets of the failures that were told. */
async function told(tenant: TestTenant): Promise<string[]> {
  const events = await eventsOf(db(), kit.idOf(tenant));
  return events
    .filter(({ type }) => type === 'top_up_failed')
    .map(({ subject }) => /\[(\w+)\]/.exec(subject.error)![1]!);
}

/** Spend below the threshold, and wait for the outcome. */
async function spendBelow(tenant: TestTenant) {
  await kit.spend(tenant, 600);
  return kit.finished(tenant);
}

describe('an automatic top-up', () => {
  test('that is declined: by the answer, by the event of the provider, and by the sweeper', async () => {
    await app.another();
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    app.sandbox.control.fault({ effect: 'repeat', times: 5, event: 'payment_intent.payment_failed' });
    expect(await spendBelow(tenant)).toMatchObject({ state: 'declined' });
    await app.settled();
    await applyMissedEvents(app.service.deps, app.service.deps.provider!);
    expect(await told(tenant)).toEqual(['generic_decline']);
  });

  test('that is declined: by the event, before the answer', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    app.sandbox.control.fault({ effect: 'commit_then_timeout', ...CHARGE, ms: 500 });
    expect(await spendBelow(tenant)).toMatchObject({ state: 'declined' });
    expect(await told(tenant)).toEqual(['generic_decline']);
  });

  test('that was declined stays the only one, whatever is charged during the back-off', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    await spendBelow(tenant);
    for (let time = 0; time < 5; time += 1) await kit.spend(tenant, 10);
    await kit.finished(tenant);
    expect(await told(tenant)).toEqual(['generic_decline']);
    expect(await kit.attemptsOf(tenant)).toHaveLength(1);
  });

  test('that is declined until the card is suspended: one event each, and none afterwards', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    await spendBelow(tenant);
    for (let time = 0; time < 6; time += 1) {
      await kit.hoursPass(9);
      await kit.spend(tenant, 10);
      await kit.finished(tenant);
    }
    expect(await told(tenant)).toEqual(Array(4).fill('generic_decline'));
  });

  test('whose card is gone', async () => {
    const tenant = await kit.toppedUp();
    const { payment_method_id } = await kit.settingsOf(tenant);
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_method.detached' });
    app.sandbox.control.detachCard(payment_method_id!);
    await spendBelow(tenant);
    for (let time = 0; time < 3; time += 1) await kit.spend(tenant, 10);
    await kit.finished(tenant);
    expect(await told(tenant)).toEqual(['card_unusable']);
  });

  test('that the provider canceled, reported by event and answer', async () => {
    const tenant = await kit.toppedUp();
    const attempt = await kit.abandonedAttempt(tenant, { leaseSeconds: 3600 });
    const canceled = {
      object: 'payment_intent',
      id: 'pi_canceled',
      status: 'canceled',
      metadata: { attempt },
    };
    for (const id of ['evt_canceled_1', 'evt_canceled_2']) {
      await kit.deliver({ id, type: 'payment_intent.canceled', data: { object: canceled } });
    }
    for (let time = 0; time < 3; time += 1) await kit.spend(tenant, 300);
    expect(await told(tenant)).toEqual(['canceled']);
  });

  test('that meets the velocity cap: once until the pause ends', async () => {
    const tenant = await kit.toppedUp({ below: 1_000_000 });
    for (let time = 0; time < 4; time += 1) {
      await kit.spend(tenant, 10);
      await kit.finished(tenant);
    }
    for (let time = 0; time < 3; time += 1) await kit.spend(tenant, 10);
    await kit.finished(tenant);
    expect(await told(tenant)).toEqual(['velocity_limit']);
  });

  test('that was given up without an answer', async () => {
    const tenant = await kit.toppedUp();
    await kit.abandonedAttempt(tenant, { hoursAgo: 24, leaseSeconds: 3600 });
    await kit.makeDue(tenant);
    await kit.finished(tenant);
    expect(await told(tenant)).toEqual(['provider_timeout']);
  });

  test('that was withdrawn after it was sent', async () => {
    const tenant = await kit.toppedUp();
    await kit.abandonedAttempt(tenant, { hoursAgo: 1, leaseSeconds: 3600 });
    await kit.setTopUp(tenant, { enabled: false });
    await kit.makeDue(tenant);
    await kit.finished(tenant);
    expect(await told(tenant)).toEqual(['turned_off']);
  });

  test('whose outcome is unknown is not told as failed', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'fail_500', ...CHARGE, count: 2 });
    await kit.spend(tenant, 600);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]?.state).toBe('unknown');
    expect(await told(tenant)).toEqual([]);
    app.sandbox.control.clearFaults();
    await db().query('update top_up_attempts set new_key_at = now() where tenant_id = $1', [
      kit.idOf(tenant),
    ]);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    expect(await told(tenant)).toEqual([]);
  });
});

describe('a checkout', () => {
  test('whose bank debit comes back is told once, although its event comes again', async () => {
    const tenant = await app.signUp();
    const answer = await app.request('POST', '/v1/billing/checkout', {
      key: tenant.key,
      body: { amount_cents: 2000 },
    });
    const session = /cs_test_\w+/.exec(answer.json.checkout_url)![0];
    const intent = app.sandbox.control.pay(session, { card: 'bank_debit_fails' });
    app.sandbox.control.fault({
      effect: 'repeat',
      times: 5,
      event: 'checkout.session.async_payment_failed',
    });
    app.sandbox.control.settle(intent.id);
    await app.settled();
    const { rows } = await db().query('select id from checkouts where session_id = $1', [session]);
    const failed = { object: 'checkout.session', id: session, metadata: { checkout: rows[0].id } };
    const type = 'checkout.session.async_payment_failed';
    await kit.deliver({ id: `evt_again_${session}`, type, data: { object: failed } });
    expect(await told(tenant)).toEqual(['async_payment_failed']);
  });

  test('that the buyer gives up, or whose card is declined on the page, is not told', async () => {
    const tenant = await app.signUp();
    const open = async () => {
      const answer = await app.request('POST', '/v1/billing/checkout', {
        key: tenant.key,
        body: { amount_cents: 2000 },
      });
      return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
    };
    app.sandbox.control.expireCheckout(await open());
    app.sandbox.control.pay(await open(), { card: '4000000000000002' });
    await app.settled();
    expect(await told(tenant)).toEqual([]);
  });
});
