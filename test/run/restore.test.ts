/** A drill: the database is restored to an older dump, after payments that the dump does not have. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { STRIPE_API_VERSION } from '../../src/money/payments/provider.ts';
import { findFreePort } from '../../src/run/free-port.ts';
import { type Service, type ServiceConfig, startService } from '../../src/run/service.ts';
import { startSandboxPayments } from '../../src/run/start-sandbox.ts';
import { bareConfig } from '../support/bare-config.ts';
import { checkLedger, checkProviderBook } from '../support/check-ledger.ts';
import { useDumpServer } from '../support/dump.ts';
import { ask, usageRecord } from '../support/service.ts';
import { runAdmin } from './admin/support.ts';

const server = useDumpServer();

/** How the service reaches its provider, and how the operator's commands do. */
interface Payments {
  readonly sandbox: Sandbox;
  readonly settings: Pick<ServiceConfig, 'stripeSecretKey' | 'stripeWebhookSecrets' | 'stripeApiBase'>;
  readonly env: Readonly<Record<string, string>>;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-restore-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function openSandboxMode(port: number): Promise<Payments> {
  const dataDir = join(folder, 'data');
  const { sandbox, settings } = await startSandboxPayments(
    { dataDir, sandboxPort: 0, host: '127.0.0.1' },
    port,
    {
      databaseUrl: 'postgres://127.0.0.1/none',
      secretsKey: Buffer.alloc(32),
      publicUrl: 'http://service.test',
    },
  );
  const env = { PAYMENTS: 'sandbox', DATA_DIR: dataDir, SANDBOX_PORT: String(sandbox.port) };
  return { sandbox, settings, env };
}

/** Stripe mode, with the sandbox as Stripe. */
async function openStripeMode(port: number): Promise<Payments> {
  const [secretKey, secret] = ['sk_test_of_the_drill', 'whsec_of_the_drill'];
  const sandbox = await startSandbox({
    port: 0,
    secretKey,
    webhooks: [{ url: `http://127.0.0.1:${port}/v1/stripe/webhook`, secret }],
  });
  return {
    sandbox,
    settings: { stripeSecretKey: secretKey, stripeWebhookSecrets: [secret], stripeApiBase: sandbox.url },
    env: stripeEnv(secretKey, sandbox),
  };
}

function stripeEnv(secretKey: string, sandbox: Sandbox): Record<string, string> {
  return { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: 'whsec_x', STRIPE_API_BASE: sandbox.url };
}

const SECRETS_KEY = Buffer.alloc(32).toString('base64');

/** Uses up whole dollars of credit. */
const using = (dollars: number) =>
  Array.from({ length: dollars }, () =>
    usageRecord({ tier: '2k_plus', seconds: 5000, egress_bytes: 2 ** 52 }),
  );

describe.each([
  ['sandbox', openSandboxMode],
  ['Stripe', openStripeMode],
])('a restored database in %s mode', (_mode, open) => {
  const before = `before_${randomBytes(6).toString('hex')}`;
  const after = `after_${randomBytes(6).toString('hex')}`;
  let payments: Payments;
  let service: Service;
  let stripe: Stripe;
  let port: number;

  const start = (databaseUrl: string) =>
    startService(
      { ...bareConfig(databaseUrl), ...payments.settings, port, trustProxy: ['127.0.0.1'] },
      pino({ level: 'silent' }),
    );
  beforeAll(async () => {
    port = await findFreePort('127.0.0.1');
    payments = await open(port);
    stripe = new Stripe(payments.settings.stripeSecretKey!, {
      host: '127.0.0.1',
      port: payments.sandbox.port,
      protocol: 'http',
      apiVersion: STRIPE_API_VERSION,
      telemetry: false,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await payments?.sandbox.close();
  });

  async function call(method: string, path: string, key: string | undefined, body?: unknown) {
    const answer = await ask(`http://127.0.0.1:${port}${path}`, method, { key, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.json;
  }
  async function pay(checkout: { checkout_url: string }): Promise<string> {
    const [session] = /cs_test_\w+/.exec(checkout.checkout_url)!;
    const { id } = payments.sandbox.control.pay(session, { card: '4242424242424242' });
    await payments.sandbox.control.idle();
    return id;
  }
  async function topUpIds(): Promise<string[]> {
    const { data } = await stripe.paymentIntents.list({ limit: 100 });
    return data.filter(({ metadata }) => metadata.attempt).map(({ id }) => id);
  }

  it(`credits later payments to their tenant, and charges no card twice (${server.means})`, async () => {
    const lost = await server.create(before);
    service = await start(lost);
    const { api_key: key, ...signedUp } = await call('POST', '/v1/signup', undefined, {
      name: 'Ada',
      email: 'a@b.c',
    });
    await pay(signedUp);
    const relay = (await call('POST', '/v1/keys', key, { name: 'relay', kind: 'relay' })).api_key;
    await call('PUT', '/v1/billing/auto-top-up', key, {
      enabled: true,
      below_cents: 500,
      amount_cents: 2000,
    });
    const balance = async () => (await call('GET', '/v1/billing', key)).balance.micros;
    const use = (records: unknown[]) => call('POST', '/v1/usage', relay, { records });
    expect(await balance()).toBe(20_000_000);

    await service.stop();
    await server.dump(before, `dump_${before}`);
    service = await start(lost);

    // After the dump: a checkout of $30, and usage that leads to an automatic top-up of $20.
    const checkout = await pay(await call('POST', '/v1/billing/checkout', key, { amount_cents: 3000 }));
    const late = using(46);
    await use(late);
    await expect.poll(balance).toBe(24_000_000);
    const topUps = await topUpIds();
    expect(topUps).toHaveLength(1);

    // The disk is lost. The relay sends the usage again as soon as the restored service is there.
    await service.stop();
    const url = await server.restore(`dump_${before}`, after);
    service = await start(url);
    const { db } = service.deps;
    expect(await use(late)).toMatchObject({ charged: 46, admitted: false });
    const admin = (...args: string[]) =>
      runAdmin({ DATABASE_URL: url, SECRETS_KEY, ...payments.env }, ...args);

    // Both payments are parked, and hold automatic top-ups.
    const parkedIds = async () => {
      const { rows } = await db.query(
        `select distinct payment_id as id from provider_events where outcome = 'parked'`,
      );
      return rows.map(({ id }) => id).sort();
    };
    await expect.poll(parkedIds).toEqual([checkout, ...topUps].sort());
    expect((await admin('payments', 'list-parked', '--json')).json).toContainEqual(
      expect.objectContaining({ state: 'parked', payment: checkout, tenant: signedUp.tenant }),
    );
    await use(using(1));
    const openAttempts = async () =>
      (await db.query(`select 1 from top_up_attempts where state in ('pending', 'unknown')`)).rowCount;
    await expect.poll(openAttempts).toBe(0);
    expect(await topUpIds()).toEqual(topUps);
    const held = (await call('GET', '/v1/billing', key)).tenant.last_top_up_error;
    expect(held).toContain('[payment_parked]');

    // One is settled by its id, the rest together.
    const one = await admin('payments', 'settle', checkout);
    expect(one).toMatchObject({ code: 0, err: '' });
    expect(one.out).toBe(
      `${checkout}: $30.000000 of payment ${checkout} is credited to ${signedUp.tenant}\n`,
    );
    const rest = await admin('payments', 'settle', '--all', '--json');
    expect(rest).toMatchObject({ code: 0, json: [{ id: topUps[0], settled: true, payment: topUps[0] }] });
    expect(await parkedIds()).toEqual([]);
    expect(await balance()).toBe(23_000_000);
    expect((await call('GET', '/v1/billing', key)).tenant).not.toHaveProperty('last_top_up_error');
    const env = {
      DATABASE_URL: url,
      SECRETS_KEY,
      ...stripeEnv(payments.settings.stripeSecretKey!, payments.sandbox),
    };
    expect(await runAdmin(env, 'verify', '--payments')).toMatchObject({ code: 0 });

    // Automatic top-ups run again, once each.
    await use(using(19));
    await expect.poll(balance).toBe(24_000_000);
    expect(await topUpIds()).toHaveLength(2);

    // Later refunds of what was settled are booked.
    payments.sandbox.control.refund(checkout, { amount: 1000 });
    payments.sandbox.control.refund(topUps[0]!);
    await payments.sandbox.control.idle();
    expect(await balance()).toBe(-6_000_000);
    expect(await checkLedger(db)).toEqual([]);
    expect(await checkProviderBook(db, stripe)).toEqual([]);
  });
});
