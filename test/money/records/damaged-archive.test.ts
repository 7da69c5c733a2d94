/** Damage in the archive is named, stops only what needs the damaged bytes, and never leads to a wrong charge. */
import pino from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { KnownFilters } from '../../../src/money/records/known-ids/known-filters.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import type { Batch } from '../../../src/money/usage/bill.ts';
import { ChargeQueue, DISTRIBUTED_LIMITS } from '../../../src/money/usage/charge-queue.ts';
import { chargeFreeBatches, chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { readRecordLines } from '../../../src/outward/export/record-lines.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const logged: string[] = [];
const app = useService({
  log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
});
const db = () => app.service.deps.db;

const archive = () => archiveRecords({ ...app.service.deps, config: { archiveAfterSeconds: 0 } });

/** Records of two chunks, and rows. */
interface Archived {
  readonly tenant: TestTenant;
  readonly first: readonly Record<string, unknown>[];
  readonly second: readonly Record<string, unknown>[];
  readonly rows: readonly Record<string, unknown>[];
}

async function makeArchived(): Promise<Archived> {
  const tenant = await app.paidTenant();
  const [first, second, rows] = [manyRecords(5_000), manyRecords(5_000), manyRecords(20)];
  const more = manyRecords(5_000);
  for (const records of [first, more, second]) {
    await report(app, tenant, records);
    await archive();
  }
  await report(app, tenant, rows);
  return { tenant, first, second, rows };
}

/** The database refuses such changes. */
const spoil = (table: string, change: string, ...values: unknown[]) =>
  withoutTriggers(app.database.pool, [table], (tx) => tx.query(change, values));

const flip = (table: string, column: string, tenant: TestTenant, where: string) =>
  spoil(
    table,
    `update ${table} set ${column} = set_byte(${column}, length(${column}) - 9, get_byte(${column}, length(${column}) - 9) # 255)
      where tenant_id = ${idOf(tenant)} and ${where}`,
  );

const lookUp = ({ tenant }: Archived, records: readonly Record<string, unknown>[]) =>
  app.request('POST', '/v1/usage/lookup', {
    key: tenant.relayKey,
    body: { ids: records.map(({ id }) => id) },
  });

const send = ({ tenant }: Archived, records: readonly Record<string, unknown>[]) =>
  app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });

async function balanceOf({ tenant }: Archived): Promise<bigint> {
  const { rows } = await db().query<{ balance: bigint }>(
    'select balance from accounts where tenant_id = $1',
    [idOf(tenant)],
  );
  return rows[0]!.balance;
}

beforeEach(() => {
  logged.length = 0;
});

describe.each(['ids', 'numbers', 'names'])('a chunk whose %s are damaged', (column) => {
  test('is named, and the rest of the tenant is there', async () => {
    const archived = await makeArchived();
    await flip('record_chunks', column, archived.tenant, 'number = 1');
    const name = `chunk 1 of the usage records of ${archived.tenant.id}: the bytes of its ${column} are damaged`;

    const { differences } = await findDifferences(db(), { at: () => {} });
    const own = differences.filter(({ tenant }) => tenant === idOf(archived.tenant));
    expect(own).toContainEqual(expect.objectContaining({ what: 'archived records', found: name }));

    expect((await lookUp(archived, archived.first.slice(0, 3))).status).toBe(500);
    expect(logged).toContainEqual(expect.stringContaining(name));
    expect((await lookUp(archived, archived.second.slice(0, 3))).status).toBe(200);
    expect((await lookUp(archived, [...archived.rows, { id: 'never' }])).status).toBe(200);

    const { tenant } = archived;
    const ledger = (query: string) => app.request('GET', `/v1/ledger?${query}`, { key: tenant.key });
    const newest = await ledger('limit=100');
    expect(newest.status).toBe(200);
    expect((await ledger('limit=100&kind=usage&participant=nobody')).status).toBe(500);

    const balance = await balanceOf(archived);
    const repeats = [...archived.first.slice(0, 5), ...manyRecords(2)];
    expect((await send(archived, repeats)).status).toBe(500);
    expect(await balanceOf(archived)).toBe(balance);
    expect((await send(archived, [...archived.second.slice(0, 5), ...manyRecords(2)])).json).toMatchObject({
      charged: 2,
      duplicates: 5,
    });

    const exported = withSnapshot(db(), async (snapshot) => {
      for await (const _ of readRecordLines(snapshot, idOf(tenant)));
    });
    await expect(exported).rejects.toThrow(name);
  });
});

test('a damaged chunk grows no more, and the next records have one of their own', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(3));
  await archive();
  await flip('record_chunks', 'names', tenant, 'number = 1');
  await report(app, tenant, manyRecords(4));
  await archive();
  const { rows } = await db().query(
    'select number, records from record_chunks where tenant_id = $1 order by number',
    [idOf(tenant)],
  );
  expect(rows).toEqual([
    { number: 1, records: 3 },
    { number: 2, records: 4 },
  ]);
});

describe('a damaged page of known ids', () => {
  test('fails the batches of its tenant, and not those that would go with them', async () => {
    const [archived, other] = [await makeArchived(), await app.paidTenant()];
    await flip('known_id_pages', 'page', archived.tenant, 'true');
    // A process without filters needs the pages.
    const deps = { ...app.service.deps, knownFilters: new KnownFilters({ bytesMax: 0 }) };
    const balance = await balanceOf(archived);
    const batchOf = (tenant: TestTenant) => ({
      tenant: idOf(tenant),
      records: UsageRecords.from([
        {
          id: `n-${tenant.id}`,
          role: 'host',
          tier: 'hd',
          seconds: 60,
          egressBytes: 1n << 30n,
          ingressBytes: 0n,
        } as never,
      ]),
    });
    const charging = {
      free: (batches: readonly Batch[]) => chargeFreeBatches(deps, batches),
      tenant: (tenant: TenantId, batches: readonly Batch[]) => chargeTenant(deps, tenant, batches),
    };
    const queue = new ChargeQueue(charging, isDistributed() ? DISTRIBUTED_LIMITS : {});
    // The first goes alone, the others go together.
    const begun = queue.charge(batchOf(await app.paidTenant()));
    const damaged = queue.charge(batchOf(archived.tenant));
    const healthy = queue.charge(batchOf(other));
    await expect(damaged).rejects.toThrow(`known ids of tenant ${archived.tenant.id}`);
    expect(await healthy).toMatchObject({ charged: 1 });
    expect(await begun).toMatchObject({ charged: 1 });
    expect(await balanceOf(archived)).toBe(balance);
    expect((await lookUp(archived, archived.rows)).status).toBe(200);
  });
});

const differencesOf = async ({ tenant }: Archived) =>
  (await findDifferences(db(), { at: () => {} })).differences.filter((each) => each.tenant === idOf(tenant));

test('verification names an account that does not say how far it is archived', async () => {
  const archived = await makeArchived();
  await spoil('accounts', 'update accounts set archived_seq = 0 where tenant_id = $1', idOf(archived.tenant));
  expect(await differencesOf(archived)).toEqual([
    { tenant: idOf(archived.tenant), what: 'last archived posting', expected: '4', found: '0' },
  ]);
});

test('verification names ids that were charged twice', async () => {
  const archived = await makeArchived();
  const tenant = idOf(archived.tenant);
  const lying = { covers: () => true, suspects: () => [] } as never;
  const again = archived.first.slice(0, 2).map(({ id }) => ({
    ...{ id: String(id), role: 'host', tier: 'hd', seconds: 60, egressBytes: 1n << 30n, ingressBytes: 0n },
  }));
  const batch = { tenant, records: UsageRecords.from(again as never) };
  await chargeTenant({ ...app.service.deps, knownFilters: lying }, tenant, [batch]);
  await archive();
  expect(await differencesOf(archived)).toEqual([
    {
      tenant,
      what: 'ids of chunk 2',
      expected: 'each id once',
      found: `2 charged before, such as ${archived.first[0]!.id}`,
    },
  ]);
});

test('verification names chunks whose names are those of another one', async () => {
  const archived = await makeArchived();
  const swap = `update record_chunks c set names = o.names from record_chunks o
    where c.tenant_id = $1 and o.tenant_id = $1 and c.number + o.number = 3`;
  await spoil('record_chunks', swap, idOf(archived.tenant));
  const found = (await differencesOf(archived)).filter(({ what }) => what === 'archived records');
  expect(found.map((each) => each.found)).toEqual(
    [1, 2].map(
      (number) =>
        `chunk ${number} of the usage records of ${archived.tenant.id}: the bytes of its names are damaged`,
    ),
  );
});

describe('verification names the chunks of which', () => {
  test('known ids are damaged', async () => {
    const archived = await makeArchived();
    expect(await differencesOf(archived)).toEqual([]);
    await flip('known_id_pages', 'page', archived.tenant, 'true');
    expect(await differencesOf(archived)).toMatchObject(
      [1, 2].map((number) => ({
        what: `known ids of chunk ${number}`,
        found: expect.stringContaining(`known ids of tenant ${archived.tenant.id}`),
      })),
    );
  });

  test('known ids are lost', async () => {
    const archived = await makeArchived();
    await spoil('known_id_runs', 'delete from known_id_runs where tenant_id = $1', idOf(archived.tenant));
    expect(await differencesOf(archived)).toEqual([
      {
        tenant: idOf(archived.tenant),
        what: 'known ids of chunk 1',
        expected: 'each id of the chunk',
        found: `all but 10000, such as ${archived.first[0]!.id}`,
      },
      expect.objectContaining({ what: 'known ids of chunk 2' }),
    ]);
  });
});
