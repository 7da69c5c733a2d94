/** Helpers for tests of payments: spending, waiting for top-ups, and comparing the books. */

import type Stripe from 'stripe';
import { afterEach, beforeEach, expect } from 'vitest';
import { moved } from '../../support/append-only.ts';
import { checkLedger, checkProviderBook } from '../../support/check-ledger.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

export const GOOD_CARD = '4242424242424242';
export const OTHER_CARD = '5555555555554444';
export const DECLINES_LATER = '4000000000000341';

export interface AttemptRow {
  readonly id: string;
  readonly state: string;
  readonly sends: number;
  readonly keys: number;
  readonly payment_id: string | null;
  readonly decline_code: string | null;
  readonly error: string | null;
}

export interface SettingsRow {
  readonly customer_id: string | null;
  readonly payment_method_id: string | null;
  readonly card_fingerprint: string | null;
  readonly frozen_by: string[];
  readonly last_top_up_error: string | null;
  /** Hours from now; `Infinity`: no end; null: no pause. */
  readonly paused_hours: number | null;
}

/** A service and a sandbox. After each test, all books must agree, and all card back-offs are cleared. */
export function usePayments(overrides: Parameters<typeof useService>[0] = {}) {
  const app = useService(overrides);
  const db = () => app.service.deps.db;

  async function rowsOf<T>(text: string, values: unknown[]): Promise<T[]> {
    return (await db().query(text, values)).rows as T[];
  }

  /** A tenant with $10 and a saved card, whose balance is topped up by $20 once it is below $5. */
  async function toppedUp({ card = GOOD_CARD, below = 500, amount = 2000 } = {}): Promise<TestTenant> {
    const tenant = await app.paidTenant({ cents: 1000, card });
    await setTopUp(tenant, { enabled: true, below_cents: below, amount_cents: amount });
    return tenant;
  }

  async function setTopUp(tenant: TestTenant, body: Record<string, unknown>) {
    const answer = await app.request('PUT', '/v1/billing/auto-top-up', { key: tenant.key, body });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  }

  /** Use up whole cents of credit: a second of the most expensive tier costs 200 micros. */
  async function spend(tenant: TestTenant, cents: number) {
    const record = usageRecord({ tier: '2k_plus', seconds: cents * 50, egress_bytes: 2 ** 52 });
    const answer = await app.request('POST', '/v1/usage', {
      key: tenant.relayKey,
      body: { records: [record] },
    });
    expect(answer.json).toMatchObject({ charged: 1, total: { micros: cents * 10_000 } });
    return answer.json;
  }

  async function balanceOf(tenant: TestTenant): Promise<number> {
    const [row] = await rowsOf<{ balance: bigint }>('select balance from accounts where tenant_id = $1', [
      idOf(tenant),
    ]);
    return Number(row!.balance);
  }

  async function billing(tenant: TestTenant) {
    const answer = await app.request('GET', '/v1/billing', { key: tenant.key });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  }

  function attemptsOf(tenant: TestTenant): Promise<AttemptRow[]> {
    return rowsOf<AttemptRow>('select * from top_up_attempts where tenant_id = $1 order by created_at', [
      idOf(tenant),
    ]);
  }

  /**
   * The newest attempt, once the tenant has no open attempt. An attempt that backs off, for 30 s at most,
   * is made due once all provider events have arrived; one that is being sent is left alone.
   */
  async function finished(tenant: TestTenant): Promise<AttemptRow> {
    const open = async () => {
      await app.settled();
      const { rowCount } = await db().query(
        `update top_up_attempts set next_at = now()
          where tenant_id = $1 and state = 'unknown' and next_at > now() and next_at <= now() + interval '30 seconds'`,
        [idOf(tenant)],
      );
      if (rowCount! > 0) app.service.deps.wakeTopUps();
      return (await attemptsOf(tenant)).filter(({ state }) => state === 'pending' || state === 'unknown')
        .length;
    };
    await expect.poll(open, { interval: 20 }).toBe(0);
    return (await attemptsOf(tenant)).at(-1)!;
  }

  async function settingsOf(tenant: TestTenant): Promise<SettingsRow> {
    const [row] = await rowsOf<SettingsRow>(
      `select *, (case when top_up_paused_until = 'infinity' then 'infinity'::float8
                       else extract(epoch from top_up_paused_until - now()) / 3600 end)::float8 as paused_hours
         from payment_settings where tenant_id = $1`,
      [idOf(tenant)],
    );
    return row!;
  }

  /** Replace the saved card with this test card at the provider. */
  async function swapCard(tenant: TestTenant, card: string): Promise<void> {
    const { payment_method_id } = await settingsOf(tenant);
    app.sandbox.control.renewCard(payment_method_id!, { card });
    await app.settled();
  }

  /** How many top-ups with this outcome the metrics show. */
  async function countOf(kind: 'top_up' | 'auto_top_up', outcome: string): Promise<number> {
    const { values } = await app.service.deps.metrics.topUps.get();
    return values.find(({ labels }) => labels.kind === kind && labels.outcome === outcome)?.value ?? 0;
  }

  /** The next commit of such a row fails with a serialization failure. */
  async function failNextCommit(table: 'payments' | 'top_up_attempts', when = 'true'): Promise<void> {
    await db().query(`
      create sequence failing_commits;
      create function fail_once() returns trigger language plpgsql as $$
      begin
        if nextval('failing_commits') = 1 then raise 'fail once' using errcode = 'serialization_failure'; end if;
        return null;
      end $$;
      create constraint trigger fail_once after insert or update on ${table}
        deferrable initially deferred for each row when (${when}) execute function fail_once()`);
  }

  /** Whether the failed transaction was repeated. Removes the failure. */
  async function wasRepeated(): Promise<boolean> {
    const { rows } = await db().query('select last_value from failing_commits');
    await db().query('drop function fail_once cascade; drop sequence failing_commits');
    return rows[0].last_value > 1;
  }

  /** Let this many hours pass for back-offs, pauses and settled payments. */
  async function hoursPass(hours: number): Promise<void> {
    const set = (...columns: string[]) =>
      columns.map((column) => `${column} = ${moved(column, `-${hours * 3600} seconds`)}`).join(', ');
    await db().query(`update payment_settings set ${set('top_up_paused_until')}`);
    await db().query(`update card_breakers set ${set('blocked_until')}`);
    await db().query(`update payments set ${set('settled_at')}`);
    await db().query(
      `update top_up_attempts set ${set('first_sent_at', 'resent_at', 'new_key_at', 'finished_at', 'next_at')}`,
    );
  }

  /**
   * An attempt whose process died just before or after sending it. Others can claim it in
   * `leaseSeconds`.
   */
  async function abandonedAttempt(
    tenant: TestTenant,
    { hoursAgo = 0.01, cents = 2000, leaseSeconds = -1 } = {},
  ): Promise<string> {
    const id = `tu_${Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')}`;
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, state, customer_id, payment_method_id, card_fingerprint,
                                    first_sent_at, sends, next_at)
       select $1, tenant_id, $3, 'unknown', customer_id, payment_method_id, card_fingerprint,
              now() - make_interval(secs => $4), 1, now() + make_interval(secs => $5)
         from payment_settings where tenant_id = $2`,
      [id, idOf(tenant), cents * 10_000, hoursAgo * 3600, leaseSeconds],
    );
    return id;
  }

  /** The tenant's open attempt is due now. */
  async function makeDue(tenant: TestTenant): Promise<void> {
    await db().query(
      `update top_up_attempts set next_at = now() where tenant_id = $1 and state in ('pending', 'unknown')`,
      [idOf(tenant)],
    );
    app.service.deps.wakeTopUps();
  }

  /** A payment of $50 that no page and no attempt asked for, with metadata of the test's choice. Returns its id. */
  async function payDirectly(
    metadata: Record<string, string>,
    { customerOf = '', currency = 'usd' } = {},
  ): Promise<string> {
    const customer = await app.stripe.customers.create({ metadata: { tenant: customerOf } });
    const method = app.sandbox.control.saveCard(customer.id, GOOD_CARD);
    const intent = await app.stripe.paymentIntents.create({
      amount: 5000,
      currency,
      customer: customer.id,
      payment_method: String(method.id),
      confirm: true,
      off_session: true,
      metadata,
    });
    await app.settled();
    return intent.id;
  }

  /** Charges the saved card for the attempt, as a request of which the service never heard again. */
  async function chargeBehind(tenant: TestTenant, attempt: string, cents = 2000): Promise<void> {
    const { customer_id, payment_method_id } = await settingsOf(tenant);
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_intent.*', count: 2 });
    await app.stripe.paymentIntents.create({
      amount: cents,
      currency: 'usd',
      customer: customer_id!,
      payment_method: payment_method_id!,
      off_session: true,
      confirm: true,
      metadata: { tenant: tenant.id, attempt },
    });
    await app.settled();
  }

  /** The charges that the provider made, or tried to make, for automatic top-ups of the tenant. */
  async function topUpIntents(tenant: TestTenant): Promise<Stripe.PaymentIntent[]> {
    const intents: Stripe.PaymentIntent[] = [];
    for await (const intent of app.stripe.paymentIntents.list({ limit: 100 })) {
      if (intent.metadata.tenant === tenant.id && intent.metadata.attempt) intents.push(intent);
    }
    return intents.reverse();
  }

  /** Deliver a made-up event with a valid signature. */
  async function deliver(event: Record<string, unknown>, { key = secret(), at = Date.now() } = {}) {
    const raw = JSON.stringify({
      object: 'event',
      livemode: false,
      created: Math.floor(at / 1000),
      ...event,
    });
    const signature = app.stripe.webhooks.generateTestHeaderString({
      payload: raw,
      secret: key,
      timestamp: Math.floor(at / 1000),
    });
    return app.request('POST', '/v1/stripe/webhook', { raw, headers: { 'stripe-signature': signature } });
  }

  const uncredited = new Set<string>();

  /** Expect that no tenant is credited for this payment. */
  function expectUncredited(payment: string): void {
    uncredited.add(payment);
  }

  function secret(): string {
    return app.service.deps.provider!.webhookSecrets[0]!;
  }

  async function outcomeOf(event: string): Promise<{ outcome: string; reason: string | null } | undefined> {
    const [row] = await rowsOf<{ outcome: string; reason: string | null }>(
      'select outcome, reason from provider_events where id = $1',
      [event],
    );
    return row;
  }

  beforeEach(async () => {
    app.sandbox.control.clearFaults();
    await db().query('delete from card_breakers');
    await db().query(`delete from top_up_attempts where state = 'declined'`);
  });

  afterEach(async () => {
    app.sandbox.control.clearFaults();
    await app.settled();
    expect(await checkLedger(db())).toEqual([]);
    expect(await checkProviderBook(db(), app.stripe, uncredited)).toEqual([]);
  });

  return {
    app,
    db,
    idOf,
    toppedUp,
    setTopUp,
    spend,
    balanceOf,
    billing,
    attemptsOf,
    finished,
    settingsOf,
    swapCard,
    hoursPass,
    abandonedAttempt,
    makeDue,
    payDirectly,
    chargeBehind,
    topUpIntents,
    deliver,
    expectUncredited,
    secret,
    outcomeOf,
    countOf,
    failNextCommit,
    wasRepeated,
  };
}
