import pino from 'pino';
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../../sandbox/server.ts';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
import { watchProvider } from '../../../src/money/verification/watch-provider.ts';
import { chargeSaved, clientOf, start } from '../../sandbox/support.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const db = () => database.pool;
let sandbox: Sandbox;
let stripe: Stripe;
/** A payment that is credited. */
let payment: string;

beforeAll(async () => {
  sandbox = await start();
  stripe = clientOf(sandbox);
  const tenant = newTenantId();
  await makeTenant(db(), { id: tenant });
  const { id: customer } = await stripe.customers.create({});
  const method = String(sandbox.control.saveCard(customer, '4242424242424242').id);
  const intent = await stripe.paymentIntents.create({
    ...chargeSaved(customer, method, 3000),
    metadata: { tenant: renderTenantId(tenant), checkout: 'co_1' },
  });
  payment = intent.id;
  await db().query(
    `insert into payments (id, tenant_id, kind, credited, checkout_id) values ($1, $2, 'top_up', 30000000, 'co_1')`,
    [payment, tenant],
  );
});
afterAll(() => sandbox.close());

interface LogLine {
  readonly msg: string;
  readonly what?: string;
}

/** The watch of one process. */
function startWatch(options: { stopping?: AbortSignal; graceSeconds?: number } = {}) {
  const { stopping = new AbortController().signal, graceSeconds = 0 } = options;
  const metrics = makeMetrics();
  const lines: LogLine[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const provider = { stripe, webhookSecrets: [], livemode: false };
  const turn = watchProvider({ db: db(), log, metrics }, provider, stopping, { graceSeconds });
  const read = async (name: 'providerDrift' | 'providerDriftAge') =>
    (await metrics[name].get()).values[0]!.value;
  return { turn, lines, drift: () => read('providerDrift'), age: () => read('providerDriftAge') };
}

/** When the next comparison is due. The bounds allow for slow machines. */
async function dueIn(): Promise<'now' | '5 minutes' | 'an hour'> {
  const { rows } = await db().query(
    'select extract(epoch from next_at - now())::float8 as seconds from provider_drift',
  );
  const { seconds } = rows[0];
  if (seconds <= 0) return 'now';
  return seconds <= 300 ? '5 minutes' : 'an hour';
}

const makeDue = () => db().query('update provider_drift set next_at = now()');

/** A refund that is not booked. */
function loseRefund(): string {
  return sandbox.control.refund(payment, { amount: 100 }).id;
}

async function bookAllRefunds(): Promise<void> {
  for (const { id, amount } of (await stripe.refunds.list({ limit: 100 })).data) {
    await db().query(
      `insert into refunds (id, payment_id, amount, status) values ($1, $2, $3, 'succeeded') on conflict do nothing`,
      [id, payment, amount * 10_000],
    );
  }
}

describe('the watch over the provider', () => {
  beforeEach(async () => {
    await bookAllRefunds();
    await db().query('delete from provider_drift');
    await startWatch().turn();
  });

  it('waits five minutes at first', async () => {
    expect(await dueIn()).toBe('5 minutes');
    const list = vi.spyOn(stripe.refunds, 'list');
    await startWatch().turn();
    expect(list).not.toHaveBeenCalled();
    list.mockRestore();
  });

  it('shows no drift after a comparison that found none, and compares again in an hour', async () => {
    await makeDue();
    const { turn, drift, lines } = startWatch();
    await turn();
    expect(await drift()).toBe(0);
    expect(lines).toEqual([]);
    expect(await dueIn()).toBe('an hour');
  });

  it('shows a difference in every process until it is gone', async () => {
    const id = loseRefund();
    await makeDue();
    const [one, other] = [startWatch(), startWatch()];
    await one.turn();
    expect(await one.drift()).toBe(1);
    expect(one.lines).toMatchObject([{ what: `refund ${id} at the provider`, found: 'not booked' }]);
    expect(await dueIn()).toBe('5 minutes');
    await other.turn();
    expect(await other.drift()).toBe(1);
    expect(other.lines).toEqual([]);

    await bookAllRefunds();
    await makeDue();
    await other.turn();
    await one.turn();
    expect([await one.drift(), await other.drift()]).toEqual([0, 0]);
  });

  it('compares once for all processes', async () => {
    await makeDue();
    const lists = [stripe.paymentIntents, stripe.refunds, stripe.disputes].map((each) =>
      vi.spyOn(each as typeof stripe.refunds, 'list'),
    );
    await Promise.all(Array.from({ length: 5 }, () => startWatch().turn()));
    for (const list of lists) {
      expect(list).toHaveBeenCalledOnce();
      list.mockRestore();
    }
  });

  it('leaves out what is younger than its grace', async () => {
    loseRefund();
    await makeDue();
    const { turn, drift } = startWatch({ graceSeconds: 300 });
    await turn();
    expect(await drift()).toBe(0);
  });

  it('fails while the provider is away, keeps what it knew, and tries again in five minutes', async () => {
    loseRefund();
    await makeDue();
    const { turn, drift, age } = startWatch();
    await turn();
    await db().query(`update provider_drift set looked_at = looked_at - interval '2 hours'`);
    await makeDue();
    sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/disputes', count: 9 });
    await expect(turn()).rejects.toThrow();
    sandbox.control.clearFaults();
    expect(await drift()).toBe(1);
    expect(await age()).toBeGreaterThan(7_000);
    expect(await dueIn()).toBe('5 minutes');
  });

  it('stops in the middle without a result, and without an error', async () => {
    loseRefund();
    await makeDue();
    const stopping = new AbortController();
    const list = vi.spyOn(stripe.refunds, 'list').mockImplementationOnce(() => {
      stopping.abort();
      return Object.assign((async function* () {})(), {}) as never;
    });
    const { turn, drift, lines } = startWatch({ stopping: stopping.signal });
    await turn();
    list.mockRestore();
    expect(await drift()).toBe(0);
    expect(lines).toEqual([]);
    expect(await dueIn()).toBe('5 minutes');
  });
});
