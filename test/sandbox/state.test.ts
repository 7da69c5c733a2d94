import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startSandbox } from '../../sandbox/server.ts';
import { chargeSaved, checkoutParams, clientOf, failureOf, start } from './support.ts';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

const journal = () => join(stateDir, 'journal.ndjson');

describe('after a restart', () => {
  test('everything is as it was, and new identifiers are new', async () => {
    const first = await start({ stateDir, seed: 'same' });
    const stripe = clientOf(first);
    const customer = await stripe.customers.create({ email: 'kept@example.com' });
    const session = await stripe.checkout.sessions.create(checkoutParams(customer.id));
    const paid = first.control.pay(session.id, { card: '4242424242424242' });
    const params = chargeSaved(customer.id, String(paid.payment_method));
    const charged = await stripe.paymentIntents.create(params, { idempotencyKey: 'once' });
    const dispute = first.control.dispute(charged.id);
    const { url } = await stripe.billingPortal.sessions.create({ customer: customer.id });
    const events = await stripe.events.list({ limit: 100 });
    await first.close();

    const second = await start({ stateDir, seed: 'same' });
    const again = clientOf(second);
    expect(await again.checkout.sessions.retrieve(session.id)).toMatchObject({ payment_status: 'paid' });
    const replay = await again.paymentIntents.create(params, { idempotencyKey: 'once' });
    expect(replay.id).toBe(charged.id);
    expect(replay.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect(await again.events.list({ limit: 100 })).toEqual(events);
    expect((await fetch(`${second.url}${new URL(url).pathname}`)).status).toBe(200);
    expect(second.control.winDispute(dispute.id).status).toBe('won');
    const fresh = await again.customers.create({});
    expect((await again.customers.list()).data.map(({ id }) => id)).toEqual([fresh.id, customer.id]);
    await second.close();
  });

  test('a line that a crash cut short is dropped', async () => {
    const first = await start({ stateDir });
    const kept = await clientOf(first).customers.create({});
    await first.close();
    await appendFile(journal(), '{"sequence":99,"writes":[["customers","cus_half",{"id":"cus_ha');

    const second = await start({ stateDir });
    const added = await clientOf(second).customers.create({});
    await second.close();
    const third = await start({ stateDir });
    expect((await clientOf(third).customers.list()).data.map(({ id }) => id)).toEqual([added.id, kept.id]);
    await third.close();
  });

  test('a damaged line before the end is refused', async () => {
    await writeFile(journal(), 'no json\n{"sequence":1,"writes":[]}\n');
    await expect(start({ stateDir })).rejects.toThrow(/damaged at line 1/);
  });

  test('the journal holds each row once', async () => {
    const first = await start({ stateDir });
    const { id } = await clientOf(first).customers.create({});
    for (const name of ['a', 'b', 'c']) await clientOf(first).customers.update(id, { name });
    await first.close();
    const lines = async () => (await readFile(journal(), 'utf8')).trim().split('\n').length;
    expect(await lines()).toBeGreaterThan(4);
    await (await start({ stateDir })).close();
    expect(await lines()).toBe(1);
  });
});

test('kill -9 loses no answered request', async () => {
  const run = async () => {
    const main = join(import.meta.dirname, '../../sandbox/main.ts');
    const args = [main, '--port', '0', '--state-dir', stateDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);
    const stripe = new Stripe('sk_test_sandbox', {
      host: '127.0.0.1',
      port,
      protocol: 'http',
      telemetry: false,
    });
    return { child, stripe };
  };
  const { child, stripe } = await run();
  const answered: string[] = [];
  const writers = Array.from({ length: 4 }, async () => {
    for (;;) answered.push((await stripe.customers.create({}, { maxNetworkRetries: 0 })).id);
  });
  await expect.poll(() => answered.length).toBeGreaterThan(40);
  child.kill('SIGKILL');
  await Promise.allSettled(writers);

  const after = await run();
  const found = new Set<string>();
  for await (const { id } of after.stripe.customers.list({ limit: 100 })) found.add(id);
  expect(answered.filter((id) => !found.has(id))).toEqual([]);
  after.child.kill('SIGTERM');
  expect(await once(after.child, 'exit')).toEqual([0, null]);
});

describe('starting', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('is refused in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    await expect(start()).rejects.toThrow(/^The sandbox .* refuses to run with NODE_ENV=production\.$/);
  });

  test('is refused with a live key', async () => {
    const options = { port: 0, secretKey: 'sk_live_abc', webhooks: [] };
    await expect(startSandbox(options)).rejects.toThrow(/must begin with sk_test_/);
  });

  test('on a port that is taken rejects with the reason and leaves the state alone', async () => {
    const first = await start({ stateDir });
    await expect(start({ stateDir, port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const { id } = await clientOf(first).customers.create({});
    await first.close();
    const second = await start({ stateDir });
    expect((await clientOf(second).customers.retrieve(id)).id).toBe(id);
    await second.close();
  });

  test('with the same seed gives the same identifiers, without one never', async () => {
    const firstId = async (seed?: string) => {
      const sandbox = await start(seed === undefined ? {} : { seed });
      const { id } = await clientOf(sandbox).customers.create({});
      await sandbox.close();
      return id;
    };
    expect(await firstId('a')).toBe(await firstId('a'));
    expect(await firstId('a')).not.toBe(await firstId('b'));
    expect(await firstId()).not.toBe(await firstId());
  });

  test('with a public address puts it into links', async () => {
    const sandbox = await start({ publicUrl: 'https://pay.example/' });
    const session = await clientOf(sandbox).checkout.sessions.create(checkoutParams());
    expect(session.url).toBe(`https://pay.example/c/pay/${session.id}`);
    await sandbox.close();
  });

  test('and stopping does not wait for calls that never get an answer', async () => {
    const sandbox = await start();
    sandbox.control.fault({ effect: 'commit_then_timeout', ms: 3_600_000 });
    const call = failureOf(clientOf(sandbox).customers.create({}));
    await expect.poll(() => sandbox.control.waitingFaults()).toEqual([]);
    await sandbox.close();
    expect((await call).type).toBe('StripeConnectionError');
  });
});
