/** Many requests of one tenant at the same time, or in a minute. */
import { expect, onTestFinished, test } from 'vitest';
import { KeyRate } from '../../../src/access/keys/key-rate.ts';
import { CallQueue, callQueueLimits } from '../../../src/base/tenants/call-queue.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { joinDoor } from '../../../src/doors/join/server.ts';
import { buildRest } from '../../../src/doors/rest/server.ts';
import { portOf } from '../../../src/run/service.ts';
import { createCredential, expectJoined, expectText, join } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, makeKey, makeTenant } from '../../support/tenants.ts';
import { expectError, expectOk } from './support.ts';

const app = useService();

/** A REST interface of its own, with joins, on the same database. */
async function openDoor(change: Partial<Deps>): Promise<string> {
  const deps = { ...app.service.deps, ...change };
  const door = await buildRest(deps, { trustProxy: [] });
  await door.register(joinDoor, { deps, origins: [] });
  await door.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => door.close());
  return `http://127.0.0.1:${portOf(door)}`;
}

const oneAtATime = () => new CallQueue({ ...callQueueLimits(20), runningPerTenant: 1, waitMs: 1 });

/** Let changes of the tenant's keys wait until the test ends. */
async function holdKeys(tenant: TestTenant): Promise<() => Promise<void>> {
  const holder = await openHolder(app.service.deps.db);
  await holder.query('select from tenants where id = $1 for update', [idOf(tenant)]);
  return holder.release;
}

const createKey = (url: string, { key }: TestTenant) =>
  ask(`${url}/v1/keys`, 'POST', { key, body: { name: 'x' } });

/** Connections that wait for a lock. */
const countWaiting = () => countLockWaiters(app.service.deps.db);

test('a request that waits for its turn too long: 503 with Retry-After, usage is charged meanwhile', async () => {
  const [busy, stranger] = [await app.paidTenant(), await app.signUp()];
  const { credential } = await createCredential(app, busy);
  const url = await openDoor({ calls: oneAtATime() });
  const release = await holdKeys(busy);
  const running = createKey(url, busy);
  await expect.poll(countWaiting).toBe(1);

  const message = 'limit reached: at most 1 calls at the same time';
  expectError(await ask(`${url}/v1/billing`, 'GET', { key: busy.key }), 503, message);
  expectText(await join({ url }, credential), 503, message);
  const usage = await ask(`${url}/v1/usage`, 'POST', {
    key: busy.relayKey,
    body: { records: [usageRecord()] },
  });
  expect(expectOk(usage)).toMatchObject({ charged: 1 });
  expectOk(await ask(`${url}/v1/billing`, 'GET', { key: stranger.key }));

  await release();
  expectOk(await running, 201);
  expectOk(await ask(`${url}/v1/billing`, 'GET', { key: busy.key }));
  expectJoined(await join({ url }, credential));
});

test('calls of the payment provider have places of their own', async () => {
  const tenant = await app.paidTenant();
  const url = await openDoor({ calls: oneAtATime(), providerCalls: oneAtATime() });
  const release = await holdKeys(tenant);
  const running = createKey(url, tenant);
  await expect.poll(countWaiting).toBe(1);
  const portal = await ask(`${url}/v1/billing/portal`, 'POST', { key: tenant.key });
  expectOk(portal);
  await release();
  expectOk(await running, 201);
});

test('more requests a minute than a key may make: 429 with Retry-After', async () => {
  const tenant = await app.signUp();
  await app.service.deps.db.query(
    `update tenants set limits = '{"key_requests_per_minute": 2}' where id = $1`,
    [idOf(tenant)],
  );
  const url = await openDoor({ keyRate: new KeyRate() });
  const billing = () => ask(`${url}/v1/billing`, 'GET', { key: tenant.key });
  expectOk(await billing());
  expectOk(await billing());
  expectError(await billing(), 429, 'limit reached: at most 2 requests a minute with one API key');
  const usage = { key: tenant.relayKey, body: { records: [] } };
  expectOk(await ask(`${url}/v1/usage`, 'POST', usage));
});

test('a handler that fails gives its place back', async () => {
  const tenant = await app.signUp();
  const url = await openDoor({ calls: oneAtATime() });
  for (let count = 0; count < 3; count += 1) {
    const answer = await ask(`${url}/v1/keys/${'0'.repeat(16)}`, 'DELETE', { key: tenant.key });
    expectError(answer, 404, 'not found');
  }
});

test.each([
  ['paid', 'active', 3],
  ['never paid', 'pending', 1],
] as const)(
  'usage of many tenants that %s, whose accounts are locked, leaves connections to all others',
  async (_, status, places) => {
    const { db } = app.service.deps;
    const stranger = await app.signUp();
    const locked = [];
    for (let count = 0; count < 25; count += 1) {
      const tenant = await makeTenant(db, { status });
      locked.push({ tenant, key: (await makeKey(db, tenant, 'relay')).plaintext });
    }
    const holder = await openHolder(db);
    for (const { tenant } of locked) {
      await holder.query('select from accounts where tenant_id = $1 for update', [tenant]);
    }
    const batches = locked.map(({ key }) =>
      ask(`${app.url}/v1/usage`, 'POST', { key, body: { records: [usageRecord()] } }),
    );
    await expect.poll(countWaiting).toBe(places);
    for (let count = 0; count < 5; count += 1) {
      expectOk(await ask(`${app.url}/v1/billing`, 'GET', { key: stranger.key }));
      const body = { records: [usageRecord()] };
      const usage = await ask(`${app.url}/v1/usage`, 'POST', { key: stranger.relayKey, body });
      expect(expectOk(usage)).toMatchObject({ charged: 1 });
      expect(await countWaiting()).toBeLessThanOrEqual(places);
    }
    await holder.release();
    await Promise.all(batches);
  },
);
