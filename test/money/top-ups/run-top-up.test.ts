import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { updateStatus } from '../../../src/base/tenants/tenants.sql.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { openProvider } from '../../../src/money/payments/provider.ts';
import { applyMissedEvents } from '../../../src/money/provider-events/event-sweeper.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { cancelAttempt, PAYMENT_CANCELED } from '../../../src/money/top-ups/cancel-attempt.ts';
import { runDueTopUp } from '../../../src/money/top-ups/run-top-up.ts';
import { findAttempt, insertAttempt } from '../../../src/money/top-ups/top-up-attempts.sql.ts';
import { unfreezeTopUps } from '../../../src/money/top-ups/unfreeze-top-ups.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { DECLINES_LATER, GOOD_CARD, OTHER_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;
const CHARGE = { method: 'POST', path: '/v1/payment_intents' } as const;
const DROP: Fault = { effect: 'drop', event: 'payment_intent.*', count: 9 };
/** The service looks for missed events every two minutes, which a test may run into. */
const SWEEPS_FAIL: Fault = { effect: 'fail_500', method: 'GET', path: '/v1/events', count: 99 };
const LOOK_UPS_FAIL: Fault = { effect: 'fail_500', method: 'GET', path: '/v1/payment_intents', count: 99 };

describe('an automatic top-up', () => {
  it('is charged to the saved card when a charge takes the balance below the threshold', async () => {
    const tenant = await kit.toppedUp();
    await kit.spend(tenant, 500);
    expect(await kit.attemptsOf(tenant)).toEqual([]);
    await kit.spend(tenant, 1);
    const attempt = await kit.finished(tenant);
    expect(attempt).toMatchObject({ state: 'succeeded', sends: 1, error: null });
    expect(await kit.balanceOf(tenant)).toBe(24_990_000);
    const shown = await kit.billing(tenant);
    expect(shown.recent[0]).toMatchObject({
      kind: 'auto_top_up',
      reference: attempt.payment_id,
      amount: { micros: 20_000_000 },
    });
    expect(shown.tenant).not.toHaveProperty('last_top_up_error');
  });

  it('is repeated, one at a time, while the balance is still below the threshold', async () => {
    const tenant = await kit.toppedUp({ below: 2500, amount: 1000 });
    await kit.spend(tenant, 100);
    await kit.finished(tenant);
    expect(await kit.balanceOf(tenant)).toBe(19_000_000);
    await kit.spend(tenant, 1);
    await kit.finished(tenant);
    expect(await kit.attemptsOf(tenant)).toHaveLength(2);
    expect(await kit.balanceOf(tenant)).toBe(28_990_000);
  });

  it('is requested once by many concurrent charges', async () => {
    const tenant = await kit.toppedUp({ amount: 100_000 });
    await Promise.all(Array.from({ length: 20 }, () => kit.spend(tenant, 60)));
    await kit.finished(tenant);
    expect((await kit.attemptsOf(tenant)).filter(({ state }) => state === 'succeeded')).toHaveLength(1);
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it.each<[string, (tenant: Awaited<ReturnType<typeof kit.toppedUp>>) => Promise<unknown>]>([
    ['it is disabled', (tenant) => kit.setTopUp(tenant, { enabled: false })],
    [
      'no card is saved',
      (tenant) =>
        db().query('update payment_settings set payment_method_id = null where tenant_id = $1', [
          kit.idOf(tenant),
        ]),
    ],
    ['the tenant is exempt', (tenant) => setExempt(db(), OPERATOR, kit.idOf(tenant), true)],
    [
      'it is frozen',
      (tenant) =>
        db().query(`update payment_settings set frozen_by = '{du_1}' where tenant_id = $1`, [
          kit.idOf(tenant),
        ]),
    ],
    [
      'it is paused',
      (tenant) =>
        db().query(
          `update payment_settings set top_up_paused_until = now() + interval '1 hour' where tenant_id = $1`,
          [kit.idOf(tenant)],
        ),
    ],
    [
      'the tenant is suspended',
      (tenant) =>
        inTransaction(db(), (tx) =>
          updateStatus(tx, { id: kit.idOf(tenant), status: 'active' }, 'suspended', 'test'),
        ),
    ],
  ])('is not requested when %s', async (_, prepare) => {
    const tenant = await kit.toppedUp();
    await prepare(tenant);
    await app.request('POST', '/v1/usage', {
      key: tenant.relayKey,
      body: {
        records: [
          {
            id: 'all',
            role: 'host',
            tier: '2k_plus',
            seconds: 40_000,
            egress_bytes: 2 ** 52,
            ingress_bytes: 0,
          },
        ],
      },
    });
    expect(await kit.attemptsOf(tenant)).toEqual([]);
  });

  it('is not requested by a report without records or with only duplicates', async () => {
    const tenant = await kit.toppedUp();
    await kit.setTopUp(tenant, { enabled: false });
    const records = [
      { id: 'one', role: 'host', tier: '2k_plus', seconds: 40_000, egress_bytes: 2 ** 52, ingress_bytes: 0 },
    ];
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 2000 });
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [] } });
    expect(await kit.attemptsOf(tenant)).toEqual([]);
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  it('that settles late does not replace the newer card of a checkout', async () => {
    const tenant = await kit.toppedUp();
    const older = await kit.settingsOf(tenant);
    app.sandbox.control.fault({ effect: 'commit_then_500', ...CHARGE });
    app.sandbox.control.fault(LOOK_UPS_FAIL);
    app.sandbox.control.fault(SWEEPS_FAIL);
    app.sandbox.control.fault({ ...DROP, count: 2 });
    await kit.spend(tenant, 600);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]?.sends).toBeGreaterThanOrEqual(2);
    await app.settled();
    await app.pay(tenant, { cents: 1000, card: OTHER_CARD });
    const newer = await kit.settingsOf(tenant);
    expect(newer.card_fingerprint).not.toBe(older.card_fingerprint);
    app.sandbox.control.clearFaults();
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    const [intent] = await kit.topUpIntents(tenant);
    expect(intent!.payment_method).toBe(older.payment_method_id);
    const { payment_method_id, card_fingerprint } = newer;
    expect(await kit.settingsOf(tenant)).toMatchObject({ payment_method_id, card_fingerprint });
  });

  it('is canceled if it is no longer due when it would be sent', async () => {
    const tenant = await kit.toppedUp();
    const before = await kit.countOf('auto_top_up', 'canceled');
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount) values ('tu_00000000000000000000000000000001', $1, 20000000)`,
      [kit.idOf(tenant)],
    );
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', error: 'no longer due' });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
    await expect.poll(() => kit.countOf('auto_top_up', 'canceled')).toBe(before + 1);
  });

  it('is canceled by a concurrent freeze', async () => {
    const tenant = await kit.toppedUp();
    await db().query(`update payment_settings set top_up_below = 100000000 where tenant_id = $1`, [
      kit.idOf(tenant),
    ]);
    const other = await db().connect();
    try {
      await other.query('begin');
      await other.query('select 1 from accounts where tenant_id = $1 for no key update', [kit.idOf(tenant)]);
      await db().query(
        `insert into top_up_attempts (id, tenant_id, amount) values ('tu_00000000000000000000000000000002', $1, 20000000)`,
        [kit.idOf(tenant)],
      );
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      await other.query(`update payment_settings set frozen_by = '{du_1}' where tenant_id = $1`, [
        kit.idOf(tenant),
      ]);
      await other.query('commit');
    } finally {
      other.release();
    }
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
  });
});

describe('a fault of the provider or the network', () => {
  const faults: [string, Fault[]][] = [
    ['an error before anything happened', [{ effect: 'fail_500', ...CHARGE }]],
    ['three errors before anything happened', [{ effect: 'fail_500', ...CHARGE, count: 3 }]],
    ['too many requests, twice', [{ effect: 'rate_limit_429', ...CHARGE, count: 2 }]],
    ['a connection that breaks after the charge', [{ effect: 'commit_then_reset', ...CHARGE }]],
    ['connections that break again and again', [{ effect: 'commit_then_reset', ...CHARGE, count: 4 }, DROP]],
    ['half an answer', [{ effect: 'truncate_body', ...CHARGE }, DROP]],
    ['half an answer, three times', [{ effect: 'truncate_body', ...CHARGE, count: 3 }, DROP]],
    ['no answer at all after the charge', [{ effect: 'commit_then_timeout', ...CHARGE }, DROP]],
    ['no answer, but the provider event', [{ effect: 'commit_then_timeout', ...CHARGE, ms: 100 }]],
    ['the provider event before the answer', [{ effect: 'webhook_first', ...CHARGE }]],
    ['a repeated error after the charge, but the provider event', [{ effect: 'commit_then_500', ...CHARGE }]],
    ['an answer and no provider event', [DROP]],
    [
      'ten times the same provider event',
      [{ effect: 'repeat', event: 'payment_intent.succeeded', times: 10 }],
    ],
    [
      'ten times the same provider event and a broken connection',
      [
        { effect: 'repeat', event: 'payment_intent.succeeded', times: 10 },
        { effect: 'commit_then_reset', ...CHARGE, count: 2 },
      ],
    ],
    [
      'a provider event with a wrong signature at first',
      [
        { effect: 'corrupt_signature', event: 'payment_intent.succeeded' },
        { effect: 'commit_then_reset', ...CHARGE, count: 2 },
      ],
    ],
    [
      'a late provider event',
      [
        { effect: 'delay', event: 'payment_intent.succeeded', ms: 300 },
        { effect: 'truncate_body', ...CHARGE, count: 2 },
      ],
    ],
  ];

  it.each(faults)('charges once and credits once: %s', async (_, wanted) => {
    const tenant = await kit.toppedUp();
    for (const fault of wanted) app.sandbox.control.fault(fault);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', error: null });
    await app.settled();
    app.sandbox.control.clearFaults();
    const intents = await kit.topUpIntents(tenant);
    expect(intents).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(24_000_000);
    expect(await kit.settingsOf(tenant)).toMatchObject({ last_top_up_error: null, paused_hours: null });
  });

  it('leaves the outcome unknown while no charge can be looked up, until the sweeper finds it', async () => {
    const tenant = await kit.toppedUp();
    // Several, since the request of a test before may be repeated only now.
    app.sandbox.control.fault({ effect: 'commit_then_500', ...CHARGE, count: 9 });
    app.sandbox.control.fault(LOOK_UPS_FAIL);
    app.sandbox.control.fault(SWEEPS_FAIL);
    app.sandbox.control.fault(DROP);
    await kit.spend(tenant, 600);
    const open = async () => (await kit.attemptsOf(tenant))[0];
    await expect.poll(async () => (await open())?.sends).toBeGreaterThanOrEqual(3);
    expect(await open()).toMatchObject({ state: 'unknown' });
    await kit.spend(tenant, 10);
    expect(await kit.attemptsOf(tenant)).toHaveLength(1);
    app.sandbox.control.clearFaults();
    app.sandbox.control.fault(LOOK_UPS_FAIL);
    expect(await applyMissedEvents(app.service.deps, app.service.deps.provider!)).toBeGreaterThanOrEqual(1);
    expect(await open()).toMatchObject({ state: 'succeeded' });
    app.sandbox.control.clearFaults();
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(23_900_000);
  });

  it('waits 1, 2, 4 seconds before a retry', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'fail_500', ...CHARGE, count: 50 });
    await kit.spend(tenant, 600);
    const waits: number[] = [];
    for (let sends = 2; sends <= 7; sends += 1) {
      await expect.poll(async () => (await kit.attemptsOf(tenant))[0]!.sends, { interval: 20 }).toBe(sends);
      const { rows } = await db().query(
        'select extract(epoch from next_at - now())::float8 as wait from top_up_attempts where tenant_id = $1',
        [kit.idOf(tenant)],
      );
      waits.push(rows[0].wait);
      await db().query('update top_up_attempts set next_at = now() where tenant_id = $1', [kit.idOf(tenant)]);
      app.service.deps.wakeTopUps();
    }
    expect(waits.map((wait) => Math.ceil(wait))).toEqual([1, 2, 4, 8, 16, 30]);
    app.sandbox.control.clearFaults();
    await db().query('update top_up_attempts set next_at = now() where tenant_id = $1', [kit.idOf(tenant)]);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  it('does not back off the card', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'fail_500', ...CHARGE, count: 2 });
    await kit.spend(tenant, 600);
    await kit.finished(tenant);
    expect((await db().query('select * from card_breakers')).rows).toEqual([]);
  });
});

describe('an error of the provider that did nothing and is repeated for its key', () => {
  const TROUBLE = /^The payment provider repeats an error\. .* \[provider_error\]\.$/;

  async function stuckTopUp(): Promise<TestTenant> {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'keep_500', ...CHARGE });
    await kit.spend(tenant, 600);
    await toldOfTrouble(tenant);
    return tenant;
  }

  async function toldOfTrouble(tenant: TestTenant): Promise<void> {
    const told = async () => (await kit.billing(tenant)).tenant.last_top_up_error;
    await expect.poll(told).toMatch(TROUBLE);
  }

  async function waitOf(tenant: TestTenant): Promise<number> {
    const { rows } = await db().query(
      `select extract(epoch from new_key_at - now())::float8 / 60 as minutes from top_up_attempts
        where tenant_id = $1 and state = 'unknown'`,
      [kit.idOf(tenant)],
    );
    return rows[0].minutes;
  }

  it('is told, and after ten minutes the charge is sent with a new key', async () => {
    const tenant = await stuckTopUp();
    expect(await waitOf(tenant)).toBeCloseTo(10, 0);
    const { sends } = (await kit.attemptsOf(tenant))[0]!;
    await kit.makeDue(tenant);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]!.sends).toBeGreaterThan(sends);
    expect((await kit.attemptsOf(tenant))[0]).toMatchObject({ state: 'unknown', keys: 1 });
    await kit.hoursPass(0.2);
    const attempt = await kit.finished(tenant);
    expect(attempt).toMatchObject({ state: 'succeeded', keys: 2 });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(24_000_000);
    expect((await kit.billing(tenant)).tenant).not.toHaveProperty('last_top_up_error');
  });

  it('doubles the wait when it happens again', async () => {
    const tenant = await stuckTopUp();
    app.sandbox.control.fault({ effect: 'keep_500', ...CHARGE });
    await kit.hoursPass(0.2);
    const due = async () => {
      await kit.makeDue(tenant);
      return (await kit.attemptsOf(tenant))[0]!.keys === 2 && (await waitOf(tenant)) > 0;
    };
    await expect.poll(due).toBe(true);
    expect(await waitOf(tenant)).toBeCloseTo(20, 0);
    expect(await kit.topUpIntents(tenant)).toEqual([]);
    await kit.hoursPass(0.4);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', keys: 3 });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it('is ended at once when the tenant turns automatic top-up on again', async () => {
    const tenant = await stuckTopUp();
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 2000 });
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', keys: 2 });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it('is ended at once when an operator unfreezes automatic top-ups', async () => {
    const tenant = await stuckTopUp();
    await unfreezeTopUps(db(), OPERATOR, kit.idOf(tenant));
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', keys: 2 });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it('is not told any more once the top-up is no longer due', async () => {
    const tenant = await stuckTopUp();
    await kit.setTopUp(tenant, { enabled: true, below_cents: 100, amount_cents: 2000 });
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', error: 'no longer due' });
    expect((await kit.billing(tenant)).tenant).not.toHaveProperty('last_top_up_error');
    expect(await kit.topUpIntents(tenant)).toEqual([]);
  });

  it('sends no new key if the first charge appears after all', async () => {
    const tenant = await stuckTopUp();
    const { id } = (await kit.attemptsOf(tenant))[0]!;
    await kit.chargeBehind(tenant, id);
    await kit.hoursPass(0.2);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', keys: 1 });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });
});

describe('a process that dies', () => {
  it('before the answer leaves an attempt that is sent again with the same key', async () => {
    const tenant = await kit.toppedUp({ below: 2000 });
    const id = await kit.abandonedAttempt(tenant);
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'succeeded' });
    await app.settled();
    const [intent] = await kit.topUpIntents(tenant);
    const { data } = await app.stripe.events.list({ type: 'payment_intent.succeeded', limit: 5 });
    const event = data.find((each) => (each.data.object as { id: string }).id === intent!.id);
    expect(event!.request!.idempotency_key).toBe(id);
  });

  it('after its charge, 23 hours ago: the charge is looked up and not sent again', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'commit_then_500', ...CHARGE });
    app.sandbox.control.fault(DROP);
    await kit.spend(tenant, 600);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]?.sends).toBeGreaterThanOrEqual(2);
    await kit.hoursPass(23.1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(24_000_000);
  });

  it('before its charge, 23 hours ago: nothing is charged, and top-ups pause for an hour', async () => {
    const tenant = await kit.toppedUp();
    await kit.abandonedAttempt(tenant, { hoursAgo: 23.1 });
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    expect(await kit.topUpIntents(tenant)).toEqual([]);
    const settings = await kit.settingsOf(tenant);
    expect(settings.last_top_up_error).toMatch(
      /^The payment provider did not answer in time \[provider_timeout\]\.$/,
    );
    expect(settings.paused_hours).toBeCloseTo(1, 1);
  });

  it('before its charge, 23 hours ago, and the customer is gone: nothing is charged', async () => {
    const tenant = await kit.toppedUp();
    const { customer_id } = await kit.settingsOf(tenant);
    app.sandbox.control.deleteCustomer(customer_id!);
    await app.settled();
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, state, customer_id, payment_method_id, first_sent_at, sends)
       values ('tu_00000000000000000000000000000003', $1, 20000000, 'unknown', $2, 'pm_gone', now() - interval '24 hours', 1)`,
      [kit.idOf(tenant), customer_id],
    );
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
  });

  it('is replaced by others, and only one charges', async () => {
    const tenant = await kit.toppedUp({ below: 2000 });
    const { service } = await app.another();
    // Later tests read what this process counts, so no other one may run their top-ups.
    onTestFinished(() => service.stop());
    await kit.abandonedAttempt(tenant);
    const both = [app.service.deps, service.deps];
    await Promise.all(
      Array.from({ length: 10 }, (_, turn) => {
        const deps = both[turn % 2]!;
        return runDueTopUp(deps, deps.provider!);
      }),
    );
    await kit.finished(tenant);
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });

  it('does not send an attempt that another one closed while it was stalled', async () => {
    const tenant = await kit.toppedUp({ below: 2000 });
    const values = [kit.idOf(tenant)];
    const attempt = 'tu_00000000000000000000000000000004';
    const { topUp } = await inTransaction(db(), async (tx) => {
      await tx.query('select from accounts where tenant_id = $1 for no key update', values);
      await db().query(
        `insert into top_up_attempts (id, tenant_id, amount) values ('${attempt}', $1, 20000000)`,
        values,
      );
      const topUp = runDueTopUp(app.service.deps, app.service.deps.provider!);
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      await db().query(
        `update top_up_attempts a
            set state = 'declined', finished_at = now(), first_sent_at = now(), sends = 1,
                customer_id = s.customer_id, payment_method_id = s.payment_method_id
           from payment_settings s where a.tenant_id = $1 and s.tenant_id = $1`,
        values,
      );
      return { topUp };
    });
    await topUp;
    await kit.spend(tenant, 1);
    await kit.finished(tenant);
    const charged = (await kit.topUpIntents(tenant)).map(({ metadata }) => metadata.attempt);
    expect(charged).toHaveLength(1);
    expect(charged).not.toContain(attempt);
  });

  it('may even resume while another one sends the same charge', async () => {
    const tenant = await kit.toppedUp({ below: 2000 });
    app.sandbox.control.fault({ effect: 'slow', ...CHARGE, ms: 400 });
    await kit.abandonedAttempt(tenant);
    const due = () => db().query(`update top_up_attempts set next_at = now() where state = 'unknown'`);
    const turns = Array.from({ length: 4 }, async () => {
      await due();
      await runDueTopUp(app.service.deps, app.service.deps.provider!);
    });
    await Promise.all(turns);
    await kit.finished(tenant);
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });
});

describe('a decline', () => {
  it('is counted once, even if its transaction is repeated', async () => {
    const tenant = await kit.toppedUp();
    await kit.swapCard(tenant, '4000000000009995');
    const before = await kit.countOf('auto_top_up', 'declined');
    await kit.failNextCommit('top_up_attempts', `new.state = 'declined'`);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
    await app.settled();
    expect(await kit.wasRepeated()).toBe(true);
    await expect.poll(() => kit.countOf('auto_top_up', 'declined')).toBe(before + 1);
  });

  it.each([
    ['4000000000009995', 'insufficient_funds', 1],
    ['4000000000000002', 'generic_decline', 1],
    ['4000000000000119', 'processing_error', 1],
    ['4000000000009987', 'lost_card', Number.POSITIVE_INFINITY],
    ['4000000000009979', 'stolen_card', Number.POSITIVE_INFINITY],
    ['4000000000000069', 'expired_card', Number.POSITIVE_INFINITY],
    ['4000002760003184', 'authentication_required', Number.POSITIVE_INFINITY],
  ])(
    'of %s is reported in a sentence with the code %s, and pauses for %s hours',
    async (card, code, hours) => {
      const tenant = await kit.toppedUp();
      await kit.swapCard(tenant, card);
      await kit.spend(tenant, 600);
      expect(await kit.finished(tenant)).toMatchObject({ state: 'declined', decline_code: code });
      await app.settled();
      const { tenant: shown, balance } = await kit.billing(tenant);
      expect(shown.last_top_up_error).toMatch(new RegExp(`^[A-Z].* \\[${code}\\]\\.$`));
      expect(balance.micros).toBe(4_000_000);
      const { paused_hours } = await kit.settingsOf(tenant);
      if (hours === 1) expect(paused_hours).toBeCloseTo(1, 1);
      else expect(paused_hours).toBe(hours);
      expect((await db().query('select declines from card_breakers')).rows).toEqual([{ declines: 1 }]);

      await kit.spend(tenant, 100);
      expect(await kit.attemptsOf(tenant)).toHaveLength(1);
    },
  );

  it('counts once, even if both the answer and a provider event report it', async () => {
    const tenant = await kit.toppedUp();
    await kit.swapCard(tenant, '4000000000009995');
    app.sandbox.control.fault({ effect: 'webhook_first', ...CHARGE });
    app.sandbox.control.fault({ effect: 'repeat', event: 'payment_intent.payment_failed', times: 5 });
    await kit.spend(tenant, 600);
    await kit.finished(tenant);
    await app.settled();
    expect((await db().query('select declines from card_breakers')).rows).toEqual([{ declines: 1 }]);
  });

  it('is recorded even without an answer', async () => {
    const tenant = await kit.toppedUp();
    await kit.swapCard(tenant, '4000000000009995');
    app.sandbox.control.fault({ effect: 'commit_then_500', ...CHARGE });
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({
      state: 'declined',
      decline_code: 'insufficient_funds',
    });
  });

  it('is replayed with the same key after a broken connection', async () => {
    const tenant = await kit.toppedUp();
    await kit.swapCard(tenant, '4000000000009995');
    app.sandbox.control.fault({ effect: 'commit_then_reset', ...CHARGE, count: 2 });
    app.sandbox.control.fault(DROP);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it('backs off the card for 1, 2 and 4 hours, and suspends it after the fourth', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    for (const hours of [1, 2, 4]) {
      await kit.spend(tenant, 501);
      expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
      expect((await kit.settingsOf(tenant)).paused_hours).toBeCloseTo(hours, 1);
      await kit.hoursPass(hours - 0.02);
      await kit.spend(tenant, 1);
      expect((await kit.attemptsOf(tenant)).every(({ state }) => state === 'declined')).toBe(true);
      await kit.hoursPass(0.03);
    }
    await kit.spend(tenant, 501);
    await kit.finished(tenant);
    expect(await kit.attemptsOf(tenant)).toHaveLength(4);
    expect((await kit.settingsOf(tenant)).paused_hours).toBe(Number.POSITIVE_INFINITY);
    await kit.hoursPass(1000);
    await kit.spend(tenant, 100);
    expect(await kit.attemptsOf(tenant)).toHaveLength(4);
    expect(await kit.topUpIntents(tenant)).toHaveLength(4);
  });

  it('still counts when the card is attached again, by this tenant or another', async () => {
    const [one, other] = [
      await kit.toppedUp({ card: DECLINES_LATER }),
      await kit.toppedUp({ card: DECLINES_LATER }),
    ];
    await kit.spend(one, 600);
    await kit.finished(one);
    await kit.spend(other, 600);
    expect(await kit.finished(other)).toMatchObject({ state: 'canceled' });
    expect(await kit.topUpIntents(other)).toEqual([]);
    expect((await kit.billing(other)).tenant.last_top_up_error).toMatch(/ \[card_suspended\]\.$/);

    const { customer_id, payment_method_id } = await kit.settingsOf(one);
    const anew = app.sandbox.control.saveCard(customer_id!, DECLINES_LATER);
    app.sandbox.control.detachCard(payment_method_id!);
    await app.settled();
    await db().query(
      `update payment_settings set payment_method_id = $2, card_fingerprint = $3, top_up_paused_until = null where tenant_id = $1`,
      [kit.idOf(one), anew.id, (await kit.settingsOf(other)).card_fingerprint],
    );
    await kit.spend(one, 1);
    expect(await kit.finished(one)).toMatchObject({ state: 'canceled' });
    expect(await kit.topUpIntents(one)).toHaveLength(1);
  });

  it('is cleared when another card pays a checkout', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    await kit.spend(tenant, 600);
    await kit.finished(tenant);
    await app.pay(tenant, { cents: 1000, card: OTHER_CARD });
    expect((await kit.billing(tenant)).tenant).not.toHaveProperty('last_top_up_error');
    expect((await kit.settingsOf(tenant)).paused_hours).toBeNull();
    await kit.spend(tenant, 1000);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  it('is cleared when the network replaces the card', async () => {
    const tenant = await kit.toppedUp();
    await kit.swapCard(tenant, '4000000000009987');
    await kit.spend(tenant, 600);
    await kit.finished(tenant);
    expect((await kit.settingsOf(tenant)).paused_hours).toBe(Number.POSITIVE_INFINITY);
    await kit.swapCard(tenant, OTHER_CARD);
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    expect((await kit.billing(tenant)).tenant).not.toHaveProperty('last_top_up_error');
  });

  it('is cleared when the automatic top-up is turned on again', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    await kit.spend(tenant, 600);
    await kit.finished(tenant);
    await kit.setTopUp(tenant, { enabled: false });
    await kit.spend(tenant, 1);
    expect(await kit.attemptsOf(tenant)).toHaveLength(1);
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 2000 });
    await kit.spend(tenant, 1);
    // The card is asked again.
    expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
    expect(await kit.attemptsOf(tenant)).toHaveLength(2);
  });

  it('of a replaced card does not pause the new one', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    app.sandbox.control.fault({ effect: 'slow', ...CHARGE, ms: 1_000 });
    await kit.spend(tenant, 600);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]?.state).toBe('unknown');
    await app.pay(tenant, { cents: 1000, card: OTHER_CARD });
    expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
    expect((await kit.settingsOf(tenant)).paused_hours).toBeNull();
    await kit.spend(tenant, 1000);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  it('happens to a card at most twelve times in 30 days, whatever the tenant does', async () => {
    const tenant = await kit.toppedUp({ card: DECLINES_LATER });
    const { card_fingerprint } = await kit.settingsOf(tenant);
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, state, card_fingerprint, finished_at)
       select 'tu_old_' || n, $1, 1, 'declined', $2, now() - n * interval '2 days' from generate_series(1, 20) as n`,
      [kit.idOf(tenant), card_fingerprint],
    );
    await db().query(
      `delete from top_up_attempts where finished_at between now() - interval '29 days' and now() - interval '23 days'`,
    );
    const { rows } = await db().query(
      `select count(*) from top_up_attempts where id like 'tu_old_%' and finished_at > now() - interval '30 days'`,
    );
    expect(Number(rows[0].count)).toBe(11);

    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
    expect((await kit.settingsOf(tenant)).paused_hours).toBe(Number.POSITIVE_INFINITY);
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 2000 });
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
    expect((await kit.settingsOf(tenant)).last_top_up_error).toMatch(/\[card_suspended\]/);
    await db().query(`delete from top_up_attempts where id like 'tu_old_%'`);
  });
});

describe('the velocity cap', () => {
  it('allows three top-ups in ten minutes, and the fourth later', async () => {
    const tenant = await kit.toppedUp({ below: 1_000_000, amount: 1000 });
    for (let time = 1; time <= 3; time += 1) {
      await kit.spend(tenant, 1);
      expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    }
    const before = await kit.countOf('auto_top_up', 'canceled');
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    await expect.poll(() => kit.countOf('auto_top_up', 'canceled')).toBe(before + 1);
    expect(await kit.topUpIntents(tenant)).toHaveLength(3);
    const settings = await kit.settingsOf(tenant);
    expect(settings.last_top_up_error).toMatch(/^Automatic top-ups are paused: .* \[velocity_limit\]\.$/);
    expect(settings.paused_hours).toBeGreaterThan(0.1);
    expect(settings.paused_hours).toBeLessThanOrEqual(10 / 60);

    await kit.hoursPass(11 / 60);
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
    expect((await kit.settingsOf(tenant)).last_top_up_error).toBeNull();
  });

  it('allows 24 top-ups in a day', async () => {
    const tenant = await kit.toppedUp({ below: 1_000_000, amount: 1000 });
    for (let time = 1; time <= 24; time += 1) {
      await kit.spend(tenant, 1);
      await kit.finished(tenant);
      await kit.hoursPass(0.2);
    }
    expect(await kit.topUpIntents(tenant)).toHaveLength(24);
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    expect((await kit.settingsOf(tenant)).last_top_up_error).toContain('24 within a day');
  });
});

describe('a card that is gone', () => {
  it('is not charged, and no further top-up is requested', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_method.detached' });
    app.sandbox.control.detachCard((await kit.settingsOf(tenant)).payment_method_id!);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    const { tenant: shown } = await kit.billing(tenant);
    expect(shown.has_card).toBe(false);
    expect(shown.last_top_up_error).toMatch(/\[card_unusable\]\.$/);
    expect((await kit.settingsOf(tenant)).customer_id).not.toBeNull();
    await kit.spend(tenant, 1);
    expect(await kit.attemptsOf(tenant)).toHaveLength(1);
  });

  it('with its customer is replaced at the next checkout', async () => {
    const tenant = await kit.toppedUp();
    const { customer_id } = await kit.settingsOf(tenant);
    app.sandbox.control.fault({ effect: 'drop', event: 'customer.deleted' });
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_method.detached', count: 5 });
    app.sandbox.control.deleteCustomer(customer_id!);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled' });
    expect((await kit.billing(tenant)).tenant.has_card).toBe(false);
    await app.pay(tenant, { cents: 1000, card: GOOD_CARD });
    const settings = await kit.settingsOf(tenant);
    expect(settings.customer_id).not.toBe(customer_id);
    expect((await kit.billing(tenant)).tenant.has_card).toBe(true);
  });
});

/** An attempt that is due, whose charge was still processing at the last request and was then canceled. */
async function canceledCharge(tenant: TestTenant): Promise<{ id: string; intent: string }> {
  const id = await kit.abandonedAttempt(tenant, { leaseSeconds: 3600 });
  const intent = await cancelCharge(tenant, id);
  await db().query('update top_up_attempts set payment_id = $2, next_at = now() where id = $1', [id, intent]);
  return { id, intent };
}

/** A charge of the attempt that the provider has canceled. Returns its id. */
async function cancelCharge(tenant: TestTenant, attempt: string): Promise<string> {
  const { customer_id } = await kit.settingsOf(tenant);
  const { id } = await app.stripe.paymentIntents.create({
    amount: 2000,
    currency: 'usd',
    customer: customer_id!,
    metadata: { tenant: tenant.id, attempt },
  });
  await app.stripe.paymentIntents.cancel(id);
  return id;
}

describe('a charge that the provider canceled', () => {
  it('is not a decline of the card', async () => {
    const tenant = await kit.toppedUp();
    await cancelCharge(tenant, await kit.abandonedAttempt(tenant, { leaseSeconds: 3600 }));
    await app.settled();
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', decline_code: null });
    expect((await kit.settingsOf(tenant)).last_top_up_error).toMatch(/\[canceled\]\.$/);
    expect((await db().query('select * from card_breakers')).rows).toEqual([]);
  });

  it('is found canceled without its event', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault(DROP);
    const { id } = await canceledCharge(tenant);
    await runDueTopUp(app.service.deps, app.service.deps.provider!);
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'canceled' });
    expect(await kit.settingsOf(tenant)).toMatchObject({
      last_top_up_error: expect.stringMatching(/\[canceled\]\.$/),
      paused_hours: expect.closeTo(1, 1),
    });
  });

  it('is looked up again after an error, and not sent again', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.fault(DROP);
    const { id, intent } = await canceledCharge(tenant);
    app.sandbox.control.fault({
      effect: 'fail_500',
      method: 'GET',
      path: '/v1/payment_intents/*',
      count: 50,
    });
    await runDueTopUp(app.service.deps, app.service.deps.provider!);
    const attempt = async () => (await kit.attemptsOf(tenant))[0]!;
    await expect.poll(async () => (await attempt()).sends).toBe(2);
    expect(await attempt()).toMatchObject({ id, state: 'unknown', payment_id: intent });
    app.sandbox.control.clearFaults();
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'canceled' });
    expect(await kit.topUpIntents(tenant)).toHaveLength(1);
  });

  it('is closed once no usage is being charged, so that no other attempt is opened', async () => {
    const tenant = await kit.toppedUp();
    const attempt = (await findAttempt(db(), await kit.abandonedAttempt(tenant, { leaseSeconds: 3600 })))!;
    const { closed } = await inTransaction(db(), async (tx) => {
      await lockAccount(tx, attempt.tenant);
      const closed = inTransaction(db(), (other) => cancelAttempt(other, attempt, PAYMENT_CANCELED));
      await expect.poll(() => countLockWaiters(db())).toBe(1);
      expect(await insertAttempt(tx, 'tu_00000000000000000000000000000005', attempt.tenant)).toBe(false);
      return { closed };
    });
    expect(await closed).toEqual({ kind: 'auto_top_up', outcome: 'canceled' });
    expect(await kit.attemptsOf(tenant)).toMatchObject([{ id: attempt.id, state: 'canceled' }]);
  });
});

describe('a charge that the provider left half done', () => {
  async function halfDone(hoursAgo: number): Promise<{ tenant: TestTenant; intent: string }> {
    const tenant = await kit.toppedUp({ below: 2000 });
    const attempt = await kit.abandonedAttempt(tenant, { hoursAgo, leaseSeconds: 3600 });
    const { customer_id, payment_method_id } = await kit.settingsOf(tenant);
    const intent = await app.stripe.paymentIntents.create({
      amount: 2000,
      currency: 'usd',
      customer: customer_id!,
      payment_method: payment_method_id!,
      metadata: { tenant: tenant.id, attempt },
    });
    expect(intent.status).toBe('requires_confirmation');
    await kit.makeDue(tenant);
    return { tenant, intent: intent.id };
  }

  it('is waited for while its request may still be worked on', async () => {
    const { tenant, intent } = await halfDone(0);
    await expect.poll(async () => (await kit.attemptsOf(tenant))[0]!.sends).toBeGreaterThan(1);
    expect((await kit.attemptsOf(tenant))[0]).toMatchObject({ state: 'unknown' });
    await app.stripe.paymentIntents.confirm(intent, { off_session: true });
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', payment_id: intent });
  });

  it('is canceled later, and is not a decline of the card', async () => {
    const { tenant, intent } = await halfDone(0.1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', decline_code: null });
    expect(await kit.topUpIntents(tenant)).toMatchObject([{ id: intent, status: 'canceled' }]);
    expect((await kit.settingsOf(tenant)).last_top_up_error).toMatch(/\[canceled\]\.$/);
    expect((await db().query('select * from card_breakers')).rows).toEqual([]);
  });
});

describe('a provider that is down', () => {
  it('delays the top-up and nothing else', async () => {
    const tenant = await kit.toppedUp({ below: 2000 });
    const nowhere = await openProvider({
      secretKey: 'sk_test_x',
      webhookSecrets: [],
      apiBase: 'http://127.0.0.1:1',
    });
    const id = await kit.abandonedAttempt(tenant);
    await runDueTopUp(app.service.deps, nowhere);
    const [attempt] = await kit.attemptsOf(tenant);
    expect(attempt).toMatchObject({ id });
    expect(await kit.finished(tenant)).toMatchObject({ id, state: 'succeeded' });
  });
});
