/** Records move into the archive as they were, each once, and their rows go. */
import { describe, expect, inject, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { Pool } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import type { ChargedRecord } from '../../../src/money/records/charged-record.ts';
import { findInPostings } from '../../../src/money/records/chunks/read-chunks.ts';
import { findTenantsToArchive } from '../../../src/money/records/records-to-archive.sql.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { manyRecords, report, setExempt } from '../../doors/rest/ledger-routes.ts';
import { expectAppendOnly, moved, withoutTriggers } from '../../support/append-only.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { runsStepForms, testOneServer } from '../../support/step-forms.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

const archive = (archiveAfterSeconds: number | undefined = 0) =>
  archiveRecords({ ...app.service.deps, config: { archiveAfterSeconds } });

interface ChunkState {
  readonly number: number;
  readonly records: number;
  readonly hasRows: boolean;
}

async function chunksOf(tenant: TestTenant): Promise<ChunkState[]> {
  const { rows } = await db().query<ChunkState>(
    'select number, records, has_rows as "hasRows" from record_chunks where tenant_id = $1 order by number',
    [idOf(tenant)],
  );
  return rows;
}

async function idsOfRows(tenant: TestTenant): Promise<string[]> {
  const { rows } = await db().query<{ id: string }>('select id from usage_records where tenant_id = $1', [
    idOf(tenant),
  ]);
  return rows.map(({ id }) => id);
}

/** All archived records, oldest first. */
async function archived(tenant: TestTenant): Promise<ChargedRecord[]> {
  const { rows } = await db().query<{ seq: bigint }>('select seq from postings where tenant_id = $1', [
    idOf(tenant),
  ]);
  const seqs = rows.map(({ seq }) => seq);
  return (await findInPostings(db(), idOf(tenant), seqs, () => true, 1e9)).reverse();
}

async function rowsOf(tenant: TestTenant): Promise<ChargedRecord[]> {
  const { rows } = await db().query<ChargedRecord>(
    `select posting_seq as seq, line, id, room, participant,
            case role when 'h' then 'host' when 'a' then 'audience' else 'broadcast_audience' end as role,
            case tier when 'a' then 'audio' when 'h' then 'hd' when 'f' then 'full_hd' when '2' then '2k' else '2k_plus' end
              as tier, seconds, egress_bytes as "egressBytes", ingress_bytes as "ingressBytes", amount, capped
       from usage_records where tenant_id = $1 order by posting_seq, line`,
    [idOf(tenant)],
  );
  return rows;
}

testOneServer('a version that does not know the archive may charge until there is one', async () => {
  const [tenant, other] = [await app.paidTenant(), await app.paidTenant()];
  await report(app, tenant, manyRecords(1));
  const copyAs = (to: TestTenant, id: string) =>
    db().query(
      `insert into usage_records select ($1::bigint) as tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds,
              line, role, tier, capped, $2 as id, room, participant from usage_records where tenant_id = $3`,
      [idOf(to), id, idOf(tenant)],
    );
  await copyAs(other, 'before');
  await archive();
  await report(app, tenant, manyRecords(1));
  await expect(copyAs(other, 'after')).rejects.toThrow(
    'usage records are archived: this version of the service would charge them again',
  );
});

test('charged and unbilled records of any posting move, and their rows go', async () => {
  const tenant = await app.paidTenant();
  for (const count of [3, 400, 60, 1]) await report(app, tenant, manyRecords(count));
  await setExempt(app, tenant, true);
  await report(app, tenant, manyRecords(70));
  const before = await rowsOf(tenant);
  await archive();
  expect(await archived(tenant)).toEqual(before);
  expect(await idsOfRows(tenant)).toEqual([]);
  expect(await chunksOf(tenant)).toEqual([{ number: 1, records: 534, hasRows: false }]);
});

test('a small chunk grows, and a full one is left as it is', async () => {
  const tenant = await app.paidTenant();
  const before: ChargedRecord[] = [];
  for (const count of [10, 5_000, 4_000, 5_000, 20]) {
    await report(app, tenant, manyRecords(count));
    before.push(...(await rowsOf(tenant)));
    await archive();
  }
  expect(await archived(tenant)).toEqual(before);
  expect((await chunksOf(tenant)).map(({ records }) => records)).toEqual([9_010, 5_020]);
});

test('long texts make small chunks', async () => {
  const tenant = await app.paidTenant();
  const before: ChargedRecord[] = [];
  const wide = (at: number) => String.fromCodePoint(0x10000 + at).repeat(200);
  for (const count of [400, 400, 10, 5]) {
    await report(
      app,
      tenant,
      manyRecords(count).map((record, at) => ({ ...record, participant: wide(at), room: wide(at + 1_000) })),
    );
    before.push(...(await rowsOf(tenant)).filter(({ seq }) => seq > (before.at(-1)?.seq ?? 0n)));
    // The first two move together, and each of the others grows a chunk or begins one.
    if (count !== 400 || before.length > 400) await archive();
  }
  expect(await archived(tenant)).toEqual(before);
  expect((await chunksOf(tenant)).map(({ records }) => records)).toEqual([400, 415]);
});

test('nothing moves before its time, or without a setting', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(5));
  await archive(3_600);
  await archiveRecords({ ...app.service.deps, config: { archiveAfterSeconds: undefined } });
  expect(await chunksOf(tenant)).toEqual([]);
});

test('a clock that jumped back delays the move, and later charges go on', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(5));
  const shift = (by: string) =>
    withoutTriggers(db(), ['postings'], (tx) =>
      tx.query(`update postings set at = ${moved('at', by)} where tenant_id = ${idOf(tenant)}`),
    );
  await shift('1 hour');
  await archive();
  expect(await chunksOf(tenant)).toEqual([]);
  // Its time is not before that of the posting before it.
  const records = manyRecords(4);
  await report(app, tenant, records);
  await archive();
  expect(await chunksOf(tenant)).toEqual([]);
  await shift('-1 hour');
  await archive();
  expect(await chunksOf(tenant)).toEqual([{ number: 1, records: 9, hasRows: false }]);
  expect(await chargedTwice(tenant, records)).toEqual({ charged: 3, duplicates: 4 });
});

test('two processes that archive at once move each record once', async () => {
  const tenants = await Promise.all([app.paidTenant(), app.paidTenant(), app.paidTenant()]);
  for (const tenant of tenants) for (const count of [300, 300]) await report(app, tenant, manyRecords(count));
  const before = await Promise.all(tenants.map(rowsOf));
  await Promise.all([archive(), archive(), archive()]);
  await archive();
  expect(await Promise.all(tenants.map(archived))).toEqual(before);
  expect((await Promise.all(tenants.map(idsOfRows))).flat()).toEqual([]);
});

test('rows that a killed process left are deleted by the next turn', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(30));
  const before = await rowsOf(tenant);
  const failing = { ...app.service.deps, db: failingTo('delete-archived-rows') };
  await archiveRecords({ ...failing, config: { archiveAfterSeconds: 0 } });
  expect(await chunksOf(tenant)).toEqual([{ number: 1, records: 30, hasRows: true }]);
  expect(await idsOfRows(tenant)).toHaveLength(30);
  await archive();
  expect(await chunksOf(tenant)).toEqual([{ number: 1, records: 30, hasRows: false }]);
  expect(await idsOfRows(tenant)).toEqual([]);
  expect(await archived(tenant)).toEqual(before);
});

// Tables on a cluster have no triggers.
describe.skipIf(inject('citusServers').length > 0).each([
  ['insert', 'record_chunks'],
  ['insert', 'known_id_runs'],
  ['insert', 'known_id_pages'],
  ['delete', 'usage_records'],
])('a disk that is full at each %s of %s', (change, table) => {
  test('stops the move and nothing else, and loses nothing', async () => {
    const tenant = await app.paidTenant();
    const records = manyRecords(30);
    await report(app, tenant, records);
    const before = await rowsOf(tenant);
    await db().query(
      `create function refuse_on_full_disk() returns trigger language plpgsql as $$
         begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
       create trigger full_disk before ${change} on ${table} for each row execute function refuse_on_full_disk()`,
    );
    await archive();
    expect(await idsOfRows(tenant)).toHaveLength(30);
    expect(await chargedTwice(tenant, records)).toEqual({ charged: 3, duplicates: 30 });

    await db().query('drop function refuse_on_full_disk cascade');
    await archive();
    expect(await idsOfRows(tenant)).toEqual([]);
    expect((await archived(tenant)).slice(0, 30)).toEqual(before);
    expect(await chargedTwice(tenant, records)).toEqual({ charged: 3, duplicates: 30 });
    const { differences } = await findDifferences(db(), { at: () => {} });
    expect(differences.filter((each) => each.tenant === idOf(tenant))).toEqual([]);
  });
});

/** What happens to the records when they come again, with three new ones. */
async function chargedTwice(tenant: TestTenant, records: readonly Record<string, unknown>[]) {
  const body = { records: [...records, ...manyRecords(3)] };
  const { json } = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body });
  const { charged, duplicates } = json as { charged: number; duplicates: number };
  return { charged, duplicates };
}

test('tenants whose records are due are found once around, by their ids', async () => {
  const tenants = await Promise.all(Array.from({ length: 4 }, () => app.paidTenant()));
  for (const tenant of tenants) await report(app, tenant, manyRecords(1));
  await archive();
  const [, ...due] = tenants;
  for (const tenant of due) await report(app, tenant, manyRecords(1));
  const [first, second, third] = due.map(idOf).sort((a, b) => (a < b ? -1 : 1));
  const findAfter = (after: bigint, leftOut: readonly (TenantId | undefined)[], limit: number) =>
    findTenantsToArchive(db(), {
      seconds: 0,
      hasPaid: true,
      after: after as TenantId,
      leftOut: leftOut as TenantId[],
      limit,
    });
  expect(await findAfter(-(2n ** 63n), [], 10)).toEqual([first, second, third]);
  expect(await findAfter(-(2n ** 63n), [], 1)).toEqual([first]);
  expect(await findAfter(first!, [], 10)).toEqual([second, third]);
  expect(await findAfter(first! - 1n, [first, third], 10)).toEqual([second]);
  expect(await findAfter(third!, [], 10)).toEqual([]);
});

test('a crowd that never paid has every fourth turn while those that paid are due', async () => {
  const free = await Promise.all(Array.from({ length: 4 }, () => app.signUp()));
  const [paid, other] = [await app.paidTenant(), await app.paidTenant()];
  for (const tenant of free) await report(app, tenant, manyRecords(2));
  // A posting of 6,000 records is a chunk, and so is the next.
  for (const tenant of [paid, paid, other, other])
    for (const part of [0, 1]) await report(app, tenant, manyRecords(5_000 - part));
  const order: TenantId[] = [];
  const turns = new TenantTurns(app.service.deps.log, 'a test');
  const take = turns.take.bind(turns);
  turns.take = (tenant, turn) => {
    order.push(tenant);
    return take(tenant, turn);
  };
  const deps = { ...app.service.deps, config: { archiveAfterSeconds: 0 } };
  await archiveRecords(deps, undefined, turns);
  const isFree = order.map((tenant) => free.some((each) => idOf(each) === tenant));
  expect(isFree.slice(0, 5)).toEqual([false, false, false, true, false]);
  expect(isFree.filter(Boolean)).toHaveLength(4);
  expect((await chunksOf(paid)).length).toBe(2);
});

/** The database without one of its statements. */
function failingTo(statement: string): Pool {
  const failing: Pool = Object.create(db());
  failing.query = ((query: { readonly name?: string }, ...rest: []) =>
    query.name === statement
      ? Promise.reject(new Error('the process ends'))
      : db().query(query as never, ...rest)) as Pool['query'];
  return failing;
}

test('neither a chunk nor a row that no chunk has can be deleted', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(2));
  await archive();
  await report(app, tenant, manyRecords(2));
  const own = `where tenant_id = ${idOf(tenant)}`;
  for (const change of [
    `delete from usage_records ${own}`,
    'truncate usage_records',
    `update usage_records set amount = amount + 1 ${own}`,
  ]) {
    await expectAppendOnly(app.database, 'usage_records', change);
  }
  await expectAppendOnly(app.database, 'record_chunks', `delete from record_chunks ${own}`);
  await expectAppendOnly(app.database, 'record_chunks', 'truncate record_chunks');
  // Distributed tables have no triggers.
  if (runsStepForms()) return;
  for (const change of ['records = 1', 'last_seq = 1', 'first_seq = 1', 'number = 2']) {
    await expectAppendOnly(app.database, 'record_chunks', `update record_chunks set ${change} ${own}`);
  }
  for (const change of [`numbers = '\\x00'`, `ids = '\\x00'`, 'records = records + 1', `names = '\\x00'`]) {
    await expectAppendOnly(app.database, 'record_chunks', `update record_chunks set ${change} ${own}`);
  }
  for (const seq of ['0', 'archived_seq - 1', 'archived_seq + 1']) {
    const change = `update accounts set archived_seq = ${seq} ${own}`;
    await expectAppendOnly(app.database, 'accounts.archived_seq', change);
  }
});

test('known ids are neither changed nor lost', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(2));
  await archive();
  const own = `where tenant_id = ${idOf(tenant)}`;
  for (const table of ['known_id_runs', 'known_id_pages']) {
    await expectAppendOnly(app.database, table, `truncate ${table}`);
    await expectAppendOnly(app.database, table, `update ${table} set run = run + 1 ${own}`);
    // The role may delete what it has merged, and distributed tables have no triggers.
    if (runsStepForms() || isDistributed()) continue;
    await expectAppendOnly(app.database, table, `delete from ${table} ${own}`);
  }
  if (runsStepForms() || isDistributed()) return;
  const smaller = `do $$ begin
    insert into known_id_runs select tenant_id, 9, entries - 1, last_seq from known_id_runs ${own};
    delete from known_id_runs ${own} and run <> 9;
  end $$`;
  await expectAppendOnly(app.database, 'known_id_runs', smaller);
});

test('nothing moves while a process lives that does not read the archive', async () => {
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(5));
  await db().query(`insert into processes (id) values ('pr_older')`);
  await archive();
  expect(await chunksOf(tenant)).toEqual([]);
  await db().query(`update processes set gone_at = now() where id = 'pr_older'`);
  await archive();
  expect(await chunksOf(tenant)).toHaveLength(1);
});
