/** Many calls of one tenant at the same time, and the calls of other tenants meanwhile. */
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, onTestFinished, test } from 'vitest';
import { KeyRate } from '../../../src/access/keys/key-rate.ts';
import { CallQueue, type CallQueueLimits, callQueueLimits } from '../../../src/base/tenants/call-queue.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { openGrpc } from '../../../src/doors/grpc/server.ts';
import { isBookmark, read } from '../../events/support.ts';
import { createCredential, expectJoined, join } from '../../support/devices.ts';
import { control, failureOf, useControl } from '../../support/grpc.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom, getRoom, listEvents, updateRoomPolicy, watchEvents } = RoomService.method;

const lockRoom = { room: 'busy', policy: { locked: true }, updateMask: { paths: ['locked'] } };

/** Hold the lock of the tenant's rooms until the returned function is called. */
async function holdRooms(tenant: TestTenant): Promise<() => Promise<void>> {
  const holder = await openHolder(app.service.deps.db);
  await holder.query('select from rooms where tenant_id = $1 for update', [idOf(tenant)]);
  return holder.release;
}

/** Calls that hold a connection and wait for a lock. */
const waitingForLocks = () => countLockWaiters(app.service.deps.db);

async function tenantWithRoom(): Promise<TestTenant> {
  const tenant = await app.paidTenant();
  await controlOf(tenant).call(createRoom, { room: 'busy' });
  return tenant;
}

/** A control plane of its own on the same database. */
async function openDoor(change: Partial<Deps>): Promise<number> {
  const deps = { ...app.service.deps, ...change };
  const door = await openGrpc(deps, {
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    trustProxy: [],
    findFault: async () => undefined,
  });
  onTestFinished(() => door.close());
  return door.port;
}

const queueOf = (limits: Partial<CallQueueLimits>) => new CallQueue({ ...callQueueLimits(20), ...limits });

test('200 calls of one tenant that wait for one row leave connections to all others', async () => {
  const [busy, stranger] = [await tenantWithRoom(), await tenantWithRoom()];
  const { credential } = await createCredential(app, stranger);
  // A connection carries 200 calls, and clients of one address share it.
  const ofStranger = control({ port: await openDoor({}) }, stranger);
  const release = await holdRooms(busy);
  const calls = Array.from({ length: 200 }, () => controlOf(busy).call(updateRoomPolicy, lockRoom));
  const { runningPerTenant } = callQueueLimits(app.service.deps.db.options.max);
  await expect.poll(waitingForLocks).toBe(runningPerTenant);

  for (let round = 0; round < 3; round += 1) {
    const { room } = await ofStranger.call(updateRoomPolicy, lockRoom);
    expect(room?.policy?.locked).toBe(true);
    const billing = await app.request('GET', '/v1/billing', { key: stranger.key });
    expect(billing.status).toBe(200);
    expectJoined(await join(app, credential));
  }
  expect(await waitingForLocks()).toBeLessThanOrEqual(runningPerTenant);
  await release();
  await Promise.allSettled(calls);
});

test('a call that waits for its turn too long: UNAVAILABLE, with a delay', async () => {
  const tenant = await tenantWithRoom();
  const release = await holdRooms(tenant);
  const port = await openDoor({ calls: queueOf({ runningPerTenant: 1, waitMs: 1 }) });
  const of = control({ port }, tenant);
  const running = of.call(updateRoomPolicy, lockRoom);
  await expect.poll(waitingForLocks).toBe(1);
  const late = await failureOf(of.call(getRoom, { room: 'busy' }));
  expect(late).toMatchObject({
    code: 'UNAVAILABLE',
    reason: 'TOO_MANY_CALLS',
    message: 'limit reached: at most 1 calls at the same time',
    metadata: { limit: 'calls_in_flight', max: '1' },
  });
  expect(late.retryDelaySeconds).toBeGreaterThan(0);
  await release();
  await running;
});

test('calls and streams that wait for events hold no places', async () => {
  const tenant = await tenantWithRoom();
  const calls = queueOf({ running: 1, runningPerTenant: 1, waitMs: 60_000 });
  const port = await openDoor({ calls });
  const of = control({ port }, tenant);
  const begin = await of.call(listEvents, {});
  const { resumeToken } = begin;
  const waiting = [1, 2, 3].map(() => of.call(listEvents, { resumeToken, wait: { seconds: 30n } }));
  const streams = [1, 2, 3].map(() => read(of.follow(watchEvents, {})));
  for (const each of streams) await each.until(isBookmark);
  await of.call(createRoom, { room: 'next' });
  for (const { events } of await Promise.all(waiting)) expect(events).toHaveLength(1);
  for (const each of streams) await each.until(({ event }) => event!.seq > 1n);
  for (const each of streams) await each.cancel();
});

test('more requests a minute than the key may make: UNAVAILABLE until the minute ends', async () => {
  const tenant = await tenantWithRoom();
  await app.service.deps.db.query(
    `update tenants set limits = '{"key_requests_per_minute": 2}' where id = $1`,
    [idOf(tenant)],
  );
  const port = await openDoor({ keyRate: new KeyRate() });
  const of = control({ port }, tenant);
  await of.call(getRoom, { room: 'busy' });
  await of.call(getRoom, { room: 'busy' });
  const refused = await failureOf(of.call(getRoom, { room: 'busy' }));
  expect(refused).toMatchObject({
    code: 'UNAVAILABLE',
    reason: 'TOO_MANY_REQUESTS',
    metadata: { limit: 'key_requests_per_minute', max: '2' },
  });
  expect(refused.retryDelaySeconds).toBeGreaterThan(0);
  expect(refused.retryDelaySeconds).toBeLessThanOrEqual(60);
});
