/** What may happen while records move into the archive. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { requestErasure } from '../../../src/control/people/request-erasure.ts';
import { type ArchiveDeps, archiveRecords } from '../../../src/money/records/archive-records.ts';
import { KnownFilters } from '../../../src/money/records/known-ids/known-filters.ts';
import { readRecords } from '../../../src/money/records/read-records.ts';
import { RepeatMemory } from '../../../src/money/records/repeat-memory.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeFreeBatches, chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { eraseAll } from '../../control/people/support.ts';
import { type Holder, openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { useService } from '../../support/service.ts';
import { testOneServer } from '../../support/step-forms.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Another process, whose filters and memory are its own. */
function anotherProcess() {
  return {
    ...app.service.deps,
    knownFilters: new KnownFilters({ bytesMax: 64e6 }),
    repeatMemory: new RepeatMemory(),
  };
}

const NEVER = { archiveAfterSeconds: undefined };

const archive = (config: ArchiveDeps['config'] = { archiveAfterSeconds: 0 }, deps = anotherProcess()) =>
  archiveRecords({ ...deps, config });

const newTenant = async () => idOf(await app.paidTenant());

function recordsFrom(first: number, count: number, participant = 'ann'): UsageRecords {
  const one = {
    room: 'stage',
    participant,
    role: 'host',
    tier: 'hd',
    seconds: 60,
    ingressBytes: 1n,
  } as const;
  return UsageRecords.from(
    Array.from({ length: count }, (_, at) => ({ ...one, id: `r-${first + at}`, egressBytes: 1n << 30n })),
  );
}

async function charge(tenant: TenantId, records: UsageRecords, deps = anotherProcess()) {
  const [outcome] = (await chargeTenant(deps, tenant, [{ tenant, records }])).values();
  return outcome!;
}

async function readAll(tenant: TenantId) {
  return withSnapshot(db(), async (snapshot) => {
    const all = [];
    for await (const records of readRecords(snapshot, { tenant })) all.push(...records);
    return all;
  });
}

async function chunksOf(tenant: TenantId): Promise<number> {
  const { rows } = await db().query<{ sum: bigint | null }>(
    'select sum(records) from record_chunks where tenant_id = $1',
    [tenant],
  );
  return Number(rows[0]!.sum);
}

const waitForWaiters = (count: number) =>
  vi.waitFor(async () => expect(await countLockWaiters(db())).toBe(count), { timeout: 30_000, interval: 5 });

const lockAccountBy = ({ query }: Holder, tenant: TenantId) =>
  query('select from accounts where tenant_id = $1 for no key update', [tenant]);

test('two processes archive while a third charges new records and repeats', async () => {
  const tenant = await newTenant();
  const charging = anotherProcess();
  const archivers = [anotherProcess(), anotherProcess()];
  let isCharging = true;
  const archiving = archivers.map(async (deps) => {
    while (isCharging) await archive(undefined, deps);
  });
  for (let from = 0; from < 3_000; from += 75) {
    const repeated = from === 0 ? 0 : 25;
    expect(await charge(tenant, recordsFrom(from - repeated, 75 + repeated), charging)).toMatchObject({
      charged: 75,
      duplicates: repeated,
    });
  }
  isCharging = false;
  await Promise.all(archiving);
  await archive();
  expect(await charge(tenant, recordsFrom(0, 3_000), charging)).toMatchObject({
    charged: 0,
    duplicates: 3_000,
  });
  const all = await readAll(tenant);
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 3_000 }, (_, at) => `r-${at}`));
  expect((await findDifferences(db(), { at: () => {} })).differences).toEqual([]);
});

test('an account that is locked for seconds holds back neither charges nor the archiving of others', async () => {
  const [locked, other] = [await newTenant(), await newTenant()];
  for (const tenant of [locked, other]) await charge(tenant, recordsFrom(0, 100));
  const holder = await openHolder(db());
  await lockAccountBy(holder, locked);
  const impatient = openPool(app.database.url, { lockMs: 1_000 });
  onTestFinished(() => impatient.end());
  const archiving = archive(undefined, { ...anotherProcess(), db: impatient });
  await waitForWaiters(1);
  expect(await charge(other, recordsFrom(50, 100))).toMatchObject({ charged: 50, duplicates: 50 });
  await archiving;
  expect(await chunksOf(other)).toBe(150);
  expect(await chunksOf(locked)).toBe(0);
  await holder.release();
  await archive();
  expect(await chunksOf(locked)).toBe(100);
});

test('a name that is erased while its records are packed does not survive in the chunk', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 300));
  const holder = await openHolder(db());
  await lockAccountBy(holder, tenant);
  // The chunk is packed, with the name.
  const archiving = archive();
  await waitForWaiters(1);
  await inTransaction(db(), (tx) => requestErasure(tx, OPERATOR, tenant, 'ann'));
  const erasing = eraseAll(app.service.deps);
  await waitForWaiters(2);
  await holder.release();
  await Promise.all([archiving, erasing]);
  await eraseAll(app.service.deps);
  expect(await chunksOf(tenant)).toBe(300);
  expect(new Set((await readAll(tenant)).map(({ participant }) => participant))).toEqual(
    new Set(['(erased)']),
  );
});

test('records that are packed while a name is erased are without it', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 300));
  await inTransaction(db(), (tx) => requestErasure(tx, OPERATOR, tenant, 'ann'));
  const holder = await openHolder(db());
  await holder.query('select from usage_records where tenant_id = $1 for update', [tenant]);
  const erasing = eraseAll(app.service.deps);
  await waitForWaiters(1);
  const archiving = archive();
  await waitForWaiters(2);
  await holder.release();
  await Promise.all([archiving, erasing]);
  await eraseAll(app.service.deps);
  expect(await chunksOf(tenant)).toBe(300);
  expect(new Set((await readAll(tenant)).map(({ participant }) => participant))).toEqual(
    new Set(['(erased)']),
  );
});

test('a setting that changes to never and back loses nothing', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 100));
  await archive();
  expect(await charge(tenant, recordsFrom(50, 100))).toMatchObject({ charged: 50, duplicates: 50 });
  await archive(NEVER);
  await archive({ archiveAfterSeconds: 400 * 86_400 });
  expect(await chunksOf(tenant)).toBe(100);
  expect(await charge(tenant, recordsFrom(0, 200))).toMatchObject({ charged: 50, duplicates: 150 });
  await archive();
  expect(await chunksOf(tenant)).toBe(200);
  expect(await charge(tenant, recordsFrom(0, 200))).toMatchObject({ charged: 0, duplicates: 200 });
  expect(await readAll(tenant)).toHaveLength(200);
});

test('a batch that repeats archived ids is left out of a transaction for which others wait', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()];
  await charge(tenant, recordsFrom(0, 100));
  await archive();
  const batch = { tenant, records: recordsFrom(50, 100) };
  const deps = anotherProcess();
  expect(await chargeFreeBatches(deps, [batch])).toEqual({
    outcomes: new Map(),
    repeating: new Set([tenant]),
  });
  const fresh = { tenant: other, records: recordsFrom(0, 3) };
  const { outcomes } = await chargeFreeBatches(deps, isDistributed() ? [fresh] : [batch, fresh]);
  expect([...outcomes]).toMatchObject([[fresh, { charged: 3 }]]);
  expect((await chargeTenant(deps, tenant, [batch])).get(batch)).toMatchObject({
    charged: 50,
    duplicates: 50,
  });
});

testOneServer('a transaction of several tenants looks up few ids of those without a filter', async () => {
  const tenants = await Promise.all(Array.from({ length: 25 }, newTenant));
  for (const tenant of tenants) await charge(tenant, recordsFrom(0, 2));
  await archive();
  const deps = { ...anotherProcess(), knownFilters: new KnownFilters({ bytesMax: 0 }) };
  const batchesOf = (from: number, count = 1) =>
    tenants.map((tenant) => ({ tenant, records: recordsFrom(from, count) }));
  const { outcomes, repeating } = await chargeFreeBatches(deps, batchesOf(10));
  // Each counts as 21.
  expect([outcomes.size, repeating.size]).toEqual([19, 6]);
  const [large] = batchesOf(20, 500);
  expect((await chargeFreeBatches(deps, [large!])).outcomes.get(large!)).toMatchObject({ charged: 500 });

  const loaded = anotherProcess();
  for (const tenant of tenants) await loaded.knownFilters.load(db(), tenant, 2n ** 40n);
  expect((await chargeFreeBatches(loaded, batchesOf(1_000))).outcomes.size).toBe(25);
});

/** A process that does this before or after it reads a repeated chunk, and counts how often it reads one. */
function whenRead(work: (times: number) => Promise<unknown>, when: 'before' | 'after' = 'after') {
  const read = { times: 0 };
  const query = async (...given: unknown[]) => {
    const isRead = (given[0] as { name?: string }).name === 'find-chunk';
    if (isRead) read.times += 1;
    if (isRead && when === 'before') await work(read.times);
    const answer = await (db().query as (...all: unknown[]) => unknown)(...given);
    if (isRead && when === 'after') await work(read.times);
    return answer;
  };
  const pool = new Proxy(db(), {
    get: (target, key) => (key === 'query' ? query : Reflect.get(target, key).bind?.(target)),
  });
  return { read, deps: { ...anotherProcess(), db: pool } };
}

test('the account is free while archived records are read, and a chunk that grew is read again', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 100));
  await archive();
  const { read, deps } = whenRead(async (times) => {
    if (times > 1) return;
    await charge(tenant, recordsFrom(100, 20));
    await archive();
  });
  const repeated = await charge(tenant, recordsFrom(0, 150), deps);
  expect(repeated).toMatchObject({ charged: 30, duplicates: 120 });
  expect(read.times).toBe(2);
});

test('an id that moves into a chunk between its search and its reading is found there', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 100));
  await archive();
  await charge(tenant, recordsFrom(100, 20));
  const { read, deps } = whenRead(() => archive(), 'before');
  expect(await charge(tenant, recordsFrom(1, 149), deps)).toMatchObject({ charged: 30, duplicates: 119 });
  expect(read.times).toBe(1);
  expect(await readAll(tenant)).toHaveLength(150);
});

test('what was erased meanwhile is read again', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 10));
  await archive();
  const { read, deps } = whenRead(async (times) => {
    if (times > 1) return;
    await inTransaction(db(), (tx) => requestErasure(tx, OPERATOR, tenant, 'ann'));
    await eraseAll(app.service.deps);
  });
  expect(await charge(tenant, recordsFrom(0, 10, 'bob'), deps)).toMatchObject({
    duplicates: 10,
    conflicts: 0,
  });
  expect(read.times).toBe(2);
});

test('an archive that changes each time is not read for ever', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 10));
  await archive();
  const { read, deps } = whenRead(async (times) => {
    await charge(tenant, recordsFrom(100 * times, 1));
    await archive();
  });
  await expect(charge(tenant, recordsFrom(0, 10), deps)).rejects.toMatchObject({
    kind: 'overloaded',
    retryAfter: 2,
  });
  expect(read.times).toBe(5);
});

test('nothing more is read once no caller awaits the outcome', async () => {
  const tenant = await newTenant();
  await charge(tenant, recordsFrom(0, 10));
  await archive();
  const { read, deps } = whenRead(async () => {});
  const batch = { tenant, records: recordsFrom(0, 20) };
  await expect(chargeTenant(deps, tenant, [batch], { isAwaited: () => false })).rejects.toMatchObject({
    kind: 'overloaded',
  });
  expect(read.times).toBe(0);
  expect(await charge(tenant, recordsFrom(0, 20))).toMatchObject({ charged: 10, duplicates: 10 });
});

describe('what was read of the archive', () => {
  /** With a record of each of these chunks. */
  const PER_CHUNK = 5_001;
  const ofEach = (chunks: number, at: number) =>
    UsageRecords.from(
      Array.from({ length: chunks }, (_, chunk) => ({
        ...recordsFrom(chunk * PER_CHUNK + at, 1).record(0),
      })),
    );

  async function chunked(chunks: number): Promise<TenantId> {
    const tenant = await newTenant();
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      await charge(tenant, recordsFrom(chunk * PER_CHUNK, PER_CHUNK));
      await archive();
    }
    return tenant;
  }

  test('is kept, so that a batch that is sent again goes on where it ended', async () => {
    const tenant = await chunked(3);
    const { read, deps } = whenRead(async () => {});
    const send = (isAwaited: () => boolean) => {
      const batch = { tenant, records: ofEach(3, 7) };
      return chargeTenant(deps, tenant, [batch], { isAwaited }).then((outcomes) => outcomes.get(batch));
    };
    await expect(send(() => read.times < 2)).rejects.toMatchObject({ kind: 'overloaded' });
    expect(read.times).toBe(2);
    expect(await send(() => true)).toMatchObject({ charged: 0, duplicates: 3 });
    expect(read.times).toBe(3);
  });

  test('serves the batches that waited meanwhile, and is read again for other ids', async () => {
    const tenant = await chunked(2);
    const { read, deps } = whenRead(async () => {});
    const waiting = { tenant, records: ofEach(2, 8) };
    const first = { tenant, records: ofEach(2, 7) };
    await chargeTenant(deps, tenant, [first], { waiting: () => [waiting] });
    expect(read.times).toBe(2);
    const outcomes = await chargeTenant(deps, tenant, [waiting]);
    expect(outcomes.get(waiting)).toMatchObject({ charged: 0, duplicates: 2 });
    expect(read.times).toBe(2);
    expect(await charge(tenant, ofEach(2, 9), deps)).toMatchObject({ charged: 0, duplicates: 2 });
    expect(read.times).toBe(4);
  });

  test('is read again once the chunk has grown by ids that were looked for in vain', async () => {
    const tenant = await newTenant();
    await charge(tenant, recordsFrom(0, 10));
    await archive();
    const { read, deps } = whenRead(async () => {});
    expect(await charge(tenant, recordsFrom(5, 10), deps)).toMatchObject({ charged: 5, duplicates: 5 });
    await archive();
    for (const times of [2, 2]) {
      expect(await charge(tenant, recordsFrom(5, 10), deps)).toMatchObject({ charged: 0, duplicates: 10 });
      expect(read.times).toBe(times);
    }
    expect(await readAll(tenant)).toHaveLength(15);
  });
});
