import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import { dismissParked, settleParked } from '../../../src/money/provider-events/settle-parked.ts';
import { fetchPayment, settlePayment } from '../../../src/money/top-ups/settle-payment.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { GOOD_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

const settle = (id: string) => settleParked(app.service.deps, app.service.deps.provider!, id);
const someId = (prefix: string) => `${prefix}_${randomBytes(16).toString('hex')}`;

/** A checkout that was paid, and whose row a restore of the database has lost. */
const payLostCheckout = async (tenant: TestTenant, cents?: number) => (await loseCheckout(tenant, cents)).id;

/** `row`: what was lost, as JSON. */
async function loseCheckout(tenant: TestTenant, cents = 3000): Promise<{ id: string; row: string }> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: cents },
  });
  const [session] = /cs_test_\w+/.exec(answer.json.checkout_url)!;
  const { rows } = await db().query<{ row: string }>(
    'delete from checkouts where session_id = $1 returning to_jsonb(checkouts)::text as row',
    [session],
  );
  const { id } = app.sandbox.control.pay(session!, { card: GOOD_CARD });
  await app.settled();
  return { id, row: rows[0]!.row };
}

/** A payment with metadata of the test's choice, by a customer of this tenant. */
const payDirectly = (customerOf: string, metadata: Record<string, string>) =>
  kit.payDirectly(metadata, { customerOf });

async function openEventsOf(payment: string): Promise<string[]> {
  const { rows } = await db().query(
    `select type from provider_events where payment_id = $1 and outcome = 'parked' order by type`,
    [payment],
  );
  return rows.map(({ type }) => type);
}

async function heldOf(tenant: TestTenant): Promise<string[]> {
  const { rows } = await db().query(
    'select parked_payments as held from payment_settings where tenant_id = $1',
    [kit.idOf(tenant)],
  );
  return rows[0].held;
}

describe('a payment whose checkout the database lost', () => {
  it('is credited once the checkout is there again, and none of its events stays parked', async () => {
    const tenant = await kit.toppedUp();
    const { id, row } = await loseCheckout(tenant);
    expect(await openEventsOf(id)).toHaveLength(2);
    await db().query(
      'insert into checkouts select * from jsonb_populate_record(null::checkouts, $1::jsonb)',
      [row],
    );
    const intent = await fetchPayment(app.service.deps.provider!.stripe, id);
    const settled = await inTransaction(db(), (tx) => settlePayment(tx, { intent, tax: 0n }));
    expect(settled.outcome).toBe('processed');
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect(await openEventsOf(id)).toEqual([]);
    expect(await heldOf(tenant)).toEqual([]);
  });

  it('is parked with both of its events, and holds automatic top-ups', async () => {
    const tenant = await kit.toppedUp();
    const payment = await payLostCheckout(tenant);
    expect(await kit.balanceOf(tenant)).toBe(10_000_000);
    expect(await openEventsOf(payment)).toEqual(['checkout.session.completed', 'payment_intent.succeeded']);
    expect(await heldOf(tenant)).toEqual([payment]);
    await kit.spend(tenant, 900);
    expect(await kit.attemptsOf(tenant)).toEqual([]);
    expect((await kit.billing(tenant)).tenant.last_top_up_error).toContain('[payment_parked]');
    await settle(payment);
  });

  it('is credited once as a top-up, even if it is settled concurrently', async () => {
    const tenant = await app.signUp();
    const payment = await payLostCheckout(tenant);
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => settle(payment)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect(await openEventsOf(payment)).toEqual([]);
    expect(await heldOf(tenant)).toEqual([]);
    const { tenant: shown, recent } = await kit.billing(tenant);
    expect(shown).toMatchObject({ status: 'active', has_card: true });
    expect(recent).toMatchObject([{ kind: 'top_up', reference: payment }]);
    await expect(settle(payment)).rejects.toThrow(`no parked notification or payment ${payment}`);
  });

  it('may be named by its event', async () => {
    const tenant = await app.signUp();
    const payment = await payLostCheckout(tenant);
    const { rows } = await db().query('select id from provider_events where payment_id = $1 limit 1', [
      payment,
    ]);
    expect(await settle(rows[0].id)).toMatchObject({ credited: { paymentId: payment, amount: 30_000_000n } });
    expect(await openEventsOf(payment)).toEqual([]);
  });

  it('that was refunded meanwhile is credited without the refund, and later refunds are booked', async () => {
    const tenant = await app.signUp();
    const payment = await payLostCheckout(tenant);
    app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    expect(await openEventsOf(payment)).toContain('refund.created');
    await settle(payment);
    expect(await kit.balanceOf(tenant)).toBe(25_000_000);
    expect(await openEventsOf(payment)).toEqual([]);
    app.sandbox.control.refund(payment, { amount: 1000 });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(15_000_000);
  });

  it('and that was parked without its payment, by an older version, is settled by its event', async () => {
    const tenant = await app.signUp();
    const payment = await payLostCheckout(tenant);
    const { rows } = await db().query(
      `update provider_events set payment_id = null, tenant_id = null where payment_id = $1 returning id`,
      [payment],
    );
    expect(await settle(rows[0].id)).toMatchObject({ credited: { paymentId: payment } });
    expect(await settle(rows[1].id)).toEqual({});
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });
});

it('an automatic top-up that the database lost is credited as one', async () => {
  const tenant = await kit.toppedUp();
  await kit.spend(tenant, 600);
  const attempt = await kit.finished(tenant);
  // The next one is lost: its row is gone before its events arrive.
  app.sandbox.control.fault({ effect: 'reorder', event: '*', count: 99 });
  const lost = someId('tu');
  const { customer_id, payment_method_id } = await kit.settingsOf(tenant);
  const intent = await app.stripe.paymentIntents.create({
    amount: 2000,
    currency: 'usd',
    customer: customer_id!,
    payment_method: payment_method_id!,
    confirm: true,
    off_session: true,
    metadata: { tenant: tenant.id, attempt: lost },
  });
  await app.sandbox.control.release('created');
  await app.settled();
  expect(await heldOf(tenant)).toEqual([intent.id]);
  await settle(intent.id);
  expect(await kit.balanceOf(tenant)).toBe(44_000_000);
  const attempts = await kit.attemptsOf(tenant);
  expect(attempts.map(({ id }) => id).sort()).toEqual([attempt.id, lost].sort());
  expect(attempts.every(({ state }) => state === 'succeeded')).toBe(true);
});

describe('stays parked', () => {
  const parked: string[] = [];
  afterEach(async () => {
    for (const payment of parked.splice(0)) {
      expect(await openEventsOf(payment)).not.toEqual([]);
      const { rowCount } = await db().query('select 1 from payments where id = $1', [payment]);
      expect(rowCount).toBe(0);
      kit.expectUncredited(payment);
    }
  });
  async function expectRefusal(payment: string, reason: string) {
    parked.push(payment);
    await expect(settle(payment)).rejects.toThrow(reason);
  }

  it('a payment or a notification that the provider does not have', async () => {
    const park = async (payment: string | null) => {
      const { rows } = await db().query<{ id: string }>(
        `insert into provider_events (id, type, outcome, reason, payment_id)
         values ($1, 'payment_intent.succeeded', 'parked', 'why', $2) returning id`,
        [someId('evt'), payment],
      );
      return rows[0]!.id;
    };
    const payment = someId('pi');
    await park(payment);
    await expectRefusal(payment, `payment ${payment} is not there at the provider`);
    const event = await park(null);
    await expect(settle(event)).rejects.toThrow('the provider no longer has this notification');
  });

  it('a payment that names no tenant', async () => {
    await expectRefusal(await payDirectly('', {}), 'its metadata does not name a tenant');
  });

  it.each([{ checkout: 'co_1' }, { attempt: 'tu_1' }, { checkout: someId('co'), attempt: someId('tu') }])(
    'a payment that names no row of ours: %j',
    async (named) => {
      const { id } = await app.signUp();
      await expectRefusal(await payDirectly(id, { tenant: id, ...named }), 'its metadata does not name');
    },
  );

  it('a payment of a tenant that the database lost', async () => {
    const id = renderTenantId(newTenantId());
    const payment = await payDirectly(id, { tenant: id, attempt: someId('tu') });
    await expectRefusal(payment, `its tenant ${id} is not here`);
  });

  it("a payment by another tenant's customer", async () => {
    const [one, other] = [await app.signUp(), await app.signUp()];
    const payment = await payDirectly(other.id, { tenant: one.id, attempt: someId('tu') });
    await expectRefusal(payment, `is not one of tenant ${one.id}`);
  });

  it('a payment for a checkout without a checkout page', async () => {
    const { id } = await app.signUp();
    const checkout = someId('co');
    await expectRefusal(await payDirectly(id, { tenant: id, checkout }), `does not name ${checkout}`);
  });

  it("a payment for another tenant's attempt, which exists", async () => {
    const [one, other] = [await kit.toppedUp(), await app.signUp()];
    await kit.spend(one, 600);
    const { id: attempt } = await kit.finished(one);
    const payment = await payDirectly(other.id, { tenant: other.id, attempt });
    await expectRefusal(payment, 'belongs to no checkout or top-up of ours');
  });

  it('a second payment for one attempt', async () => {
    const tenant = await kit.toppedUp();
    await kit.spend(tenant, 600);
    const { id: attempt } = await kit.finished(tenant);
    const payment = await payDirectly(tenant.id, { tenant: tenant.id, attempt });
    await expectRefusal(payment, 'was paid by another payment already');
    expect(await heldOf(tenant)).toEqual([payment]);
  });
});

describe('dismissParked', () => {
  it('takes all events of the payment off the list, and ends the hold', async () => {
    const tenant = await kit.toppedUp();
    const payment = await payLostCheckout(tenant);
    kit.expectUncredited(payment);
    await dismissParked({ db: db() }, OPERATOR, payment, 'refunded at the provider');
    expect(await openEventsOf(payment)).toEqual([]);
    expect(await heldOf(tenant)).toEqual([]);
    const { rows } = await db().query('select distinct reason from provider_events where payment_id = $1', [
      payment,
    ]);
    expect(rows).toMatchObject([{ reason: 'dismissed: refunded at the provider' }]);
    await expect(dismissParked({ db: db() }, OPERATOR, payment, 'again')).rejects.toThrow(
      'no parked notification',
    );
  });

  it('leaves a notification that is tried again', async () => {
    await db().query(
      `insert into provider_events (id, type, outcome, reason, tries, tried_at)
       values ('evt_failing', 'charge.updated', 'failing', 'why', 1, now())`,
    );
    await expect(dismissParked({ db: db() }, OPERATOR, 'evt_failing', 'done')).rejects.toThrow(
      'only a parked',
    );
    const { rows } = await db().query(`select outcome from provider_events where id = 'evt_failing'`);
    expect(rows).toEqual([{ outcome: 'failing' }]);
  });
});
