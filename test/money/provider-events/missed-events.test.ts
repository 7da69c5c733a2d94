import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { measureParkedEvents } from '../../../src/money/parked/measure-parked-events.ts';
import { applyMissedEvents } from '../../../src/money/provider-events/event-sweeper.ts';
import { settleParked } from '../../../src/money/provider-events/settle-parked.ts';
import type { TestTenant } from '../../support/service.ts';
import { GOOD_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

const provider = () => app.service.deps.provider!;
const sweep = (limits?: Parameters<typeof applyMissedEvents>[2]) =>
  applyMissedEvents(app.service.deps, provider(), limits);

/** Pay a checkout of $50 whose events are never delivered. */
async function payUnnoticed(tenant: TestTenant): Promise<Stripe.PaymentIntent> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 5000 },
  });
  app.sandbox.control.fault({ effect: 'drop', event: '*', count: 99 });
  const [session] = /cs_test_\w+/.exec(answer.json.checkout_url)!;
  const intent = app.sandbox.control.pay(session!, { card: GOOD_CARD });
  await app.settled();
  app.sandbox.control.clearFaults();
  return intent as unknown as Stripe.PaymentIntent;
}

async function placeOf(): Promise<number> {
  const { rows } = await db().query(
    'select extract(epoch from swept_until)::float8 as at from provider_cursor',
  );
  return rows[0].at;
}

describe("the sweeper's place", () => {
  afterEach(() => vi.useRealTimers());

  it('does not follow a clock that is two hours ahead', async () => {
    const tenant = await app.signUp();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
    await sweep();
    vi.useRealTimers();
    await payUnnoticed(tenant);
    expect(await kit.balanceOf(tenant)).toBe(0);
    await sweep();
    expect(await kit.balanceOf(tenant)).toBe(50_000_000);
  });

  it('is the time of the newest event, and stays where there is none', async () => {
    await app.paidTenant();
    await sweep();
    const { data } = await app.stripe.events.list({ limit: 1, types: ['payment_intent.succeeded'] });
    const place = await placeOf();
    expect(place).toBeGreaterThanOrEqual(data[0]!.created);
    expect(place).toBeLessThanOrEqual(Date.now() / 1000);
    await sweep();
    expect(await placeOf()).toBe(place);
  });

  it('that is in the future is read as the time of the database', async () => {
    const tenant = await app.signUp();
    await db().query(`update provider_cursor set swept_until = now() + interval '2 hours'`);
    await payUnnoticed(tenant);
    await sweep();
    expect(await kit.balanceOf(tenant)).toBe(50_000_000);
    await db().query('update provider_cursor set swept_until = now()');
  });
});

describe('a provider event that always fails', () => {
  const limits = { triesMax: 3, trySeconds: 0, outageSecondsMax: 3600 };

  beforeEach(() => db().query(`update provider_cursor set swept_until = now() - interval '1 minute'`));
  afterEach(async () => {
    await db().query('drop function if exists refuse_payment cascade');
  });

  /** The database refuses this payment. */
  async function refusePayment(id: string, code = 'P0001') {
    await db().query(`
      create function refuse_payment() returns trigger language plpgsql as $$
      begin raise 'refused for a test' using errcode = '${code}'; end $$;
      create trigger refuse_payment before insert on payments
        for each row when (new.id = '${id}') execute function refuse_payment()`);
  }

  async function eventsOf(payment: string) {
    const { rows } = await db().query(
      `select outcome, tries, reason, payment_id, tenant_id from provider_events
        where outcome in ('parked', 'failing') and (payment_id = $1 or reason like '%for a test%') order by id`,
      [payment],
    );
    return rows;
  }

  it('is parked after three tries, and no longer keeps the sweeper at its place', async () => {
    const tenant = await kit.toppedUp();
    // The place is a second of the provider's clock, and has to move.
    const second = await placeOf();
    await vi.waitFor(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(second), 60_000);
    const { id } = await payUnnoticed(tenant);
    await refusePayment(id);
    const before = await placeOf();
    await sweep(limits);
    await sweep(limits);
    expect(await eventsOf(id)).toMatchObject([
      { outcome: 'failing', tries: 2 },
      { outcome: 'failing', tries: 2 },
    ]);
    expect(await placeOf()).toBe(before);

    await sweep(limits);
    const parked = {
      outcome: 'parked',
      tries: 3,
      reason: expect.stringContaining('it failed 3 times: refused for a test'),
      payment_id: id,
      tenant_id: kit.idOf(tenant),
    };
    expect(await eventsOf(id)).toMatchObject([parked, parked]);
    expect(await placeOf()).toBeGreaterThan(before);
    expect(await sweep(limits)).toBe(0);

    await measureParkedEvents(app.service.deps);
    const { values } = await app.service.deps.metrics.parkedNotifications.get();
    expect(values.find(({ labels }) => labels.state === 'parked')?.value).toBeGreaterThanOrEqual(2);

    // The payment is paid for, so the card is not charged for the same credit meanwhile.
    await kit.spend(tenant, 900);
    expect(await kit.attemptsOf(tenant)).toEqual([]);
    await expect(settleParked(app.service.deps, provider(), id)).rejects.toThrow('refused for a test');

    await db().query('drop function refuse_payment cascade');
    expect(await settleParked(app.service.deps, provider(), id)).toMatchObject({
      credited: { tenant: kit.idOf(tenant), amount: 50_000_000n },
    });
    expect(await eventsOf(id)).toEqual([]);
    expect(await kit.balanceOf(tenant)).toBe(51_000_000);
  });

  it('does not hold the events after it', async () => {
    const [one, other] = [await app.signUp(), await app.signUp()];
    const { id } = await payUnnoticed(one);
    await refusePayment(id);
    await payUnnoticed(other);
    await sweep(limits);
    expect(await kit.balanceOf(other)).toBe(50_000_000);
    await db().query('drop function refuse_payment cascade');
    await sweep(limits);
    expect(await kit.balanceOf(one)).toBe(50_000_000);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('counts once for all processes within the time of a try', async () => {
    const { id } = await payUnnoticed(await app.signUp());
    await refusePayment(id);
    for (let each = 0; each < 4; each += 1) await sweep({ ...limits, trySeconds: 3600 });
    expect(await eventsOf(id)).toMatchObject([{ tries: 1 }, { tries: 1 }]);
    await db().query('drop function refuse_payment cascade');
    await sweep(limits);
  });

  it('by an outage is not parked before a day has passed', async () => {
    const { id } = await payUnnoticed(await app.signUp());
    await refusePayment(id, '57P03');
    for (let each = 0; each < 4; each += 1) await sweep(limits);
    expect(await eventsOf(id)).toMatchObject([{ outcome: 'failing' }, { outcome: 'failing' }]);
    await sweep({ ...limits, outageSecondsMax: 0 });
    expect(await eventsOf(id)).toMatchObject([{ outcome: 'parked' }, { outcome: 'parked' }]);
    await db().query('drop function refuse_payment cascade');
    await settleParked(app.service.deps, provider(), id);
  });
});
