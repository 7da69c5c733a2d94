/** A walk with a room reads only the hours that have it, and finds what a walk without one finds. */
import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { LedgerFilter, LedgerLine } from '../../../src/money/ledger/ledger-line.ts';
import { filterEntries } from '../../../src/money/ledger/list-entries.ts';
import { findPostings } from '../../../src/money/ledger/walk-ledger.sql.ts';
import { beginningOf, readLedgerPage, readStretch } from '../../../src/money/ledger/walk-ledger.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { rollUpUsage } from '../../../src/money/usage/roll-up-usage.ts';
import { manyRecords, report, setExempt } from '../../doors/rest/ledger-routes.ts';
import { moveInTime } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
const FIRST = Date.parse('2026-07-01T00:00:00Z');
const MINUTE_MS = 60_000;
const POSTINGS = 36;
/** Up to 50 records are found by their ids, more by the time at which they were inserted. */
const SIZES = [3, 60, 1, 51, 80, 50];
const ROOMS = ['stage', 'weekly', 'rare', '', 'nowhere'];

let tenant: TestTenant;
/** When each posting was, in minutes after the first one: many in one hour, and none for weeks. */
const MINUTES = Array.from({ length: POSTINGS }, (_, at) => Math.floor(at ** 3 * 3.1));

const TIMES = MINUTES.map((minutes) => new Date(FIRST + minutes * MINUTE_MS).toISOString());

function roomOf(posting: number, record: number): string {
  if (posting % 7 === 0 && record % 3 === 0) return 'weekly';
  if ((posting === 4 || posting === 29) && record === 1) return 'rare';
  return record % 5 === 4 ? '' : 'stage';
}

/** Two whose records lie in one table: where tables are distributed, there is one for each share of the tenants. */
async function signUpTwo(): Promise<[TestTenant, TestTenant]> {
  const seen = new Map<unknown, TestTenant>();
  for (;;) {
    const next = await app.signUp();
    const table = await findTable(next);
    const other = seen.get(table);
    if (other) return [other, next];
    seen.set(table, next);
  }
}

async function findTable(of: TestTenant): Promise<unknown> {
  if (!isDistributed()) return 'usage_records';
  const { rows } = await db().query(
    `select get_shard_id_for_distribution_column('usage_records', $1::bigint) as shard`,
    [idOf(of)],
  );
  return rows[0].shard;
}

/** Records of two tenants lie in turns in the table, and in its middle there are 300 pages of the other one. */
beforeAll(async () => {
  const [one, other] = await signUpTwo();
  tenant = one;
  for (let at = 0; at < POSTINGS; at += 1) {
    await setExempt(app, tenant, at % 9 === 8);
    const records = Array.from({ length: SIZES[at % SIZES.length]! }, (_, record) => {
      // Another one in each posting, so that a room has records that a filter by both leaves out.
      const [made] = manyRecords(1, { room: roomOf(at, record), participant: `user-${at % 3}` });
      return made!;
    });
    await report(app, tenant, records);
    if (at % 4 < 2) await report(app, other, manyRecords(70, { room: 'stage' }));
    for (let count = 0; at === POSTINGS / 2 && count < 6; count += 1)
      await report(app, other, manyRecords(3_500, { room: 'stage' }));
  }
  await moveInTime(db(), idOf(tenant), TIMES);
});

const keyOf = ({ record }: LedgerLine) => `${record?.seq}.${record?.line}`;

async function expectedOf({ room, participant, kinds, firstSeq, lastSeq }: LedgerFilter): Promise<string[]> {
  const { rows } = await db().query(
    `select r.posting_seq || '.' || r.line as key
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where r.tenant_id = $1 and coalesce(r.room, '') = $2 and ($3::text is null or r.participant = $3)
        and p.kind = any($4) and p.seq between $5 and $6
      order by r.posting_seq desc, r.line desc`,
    [idOf(tenant), room, participant, kinds, firstSeq, lastSeq],
  );
  return rows.map(({ key }) => key);
}

async function walk(filter: LedgerFilter, limit: number): Promise<string[]> {
  const keys: string[] = [];
  const read = (place: Parameters<typeof readStretch>[3]) =>
    readStretch(db(), idOf(tenant), filter, place, limit);
  for (let found = await read(beginningOf(filter)); found; found = await read(found.place)) {
    keys.push(...found.lines.map(keyOf));
  }
  return keys;
}

async function turnPages(filter: LedgerFilter, limit: number): Promise<string[]> {
  const keys: string[] = [];
  let place: ReturnType<typeof beginningOf> | undefined = beginningOf(filter);
  while (place) {
    const page: Awaited<ReturnType<typeof readLedgerPage>> = await readLedgerPage(
      db(),
      idOf(tenant),
      filter,
      place,
      limit,
    );
    keys.push(...page.lines.map(keyOf));
    place = page.place;
  }
  return keys;
}

const minute = fc.integer({ min: -10, max: MINUTES.at(-1)! + 10 });
const time = fc.option(
  minute.map((minutes) => new Date(FIRST + minutes * MINUTE_MS)),
  { nil: undefined },
);

async function expectEqual() {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ROOMS),
      fc.constantFrom('user-1', undefined),
      time,
      time,
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      async (room, participant, from, to, limit, withUnbilled) => {
        const query = { kinds: undefined, room, participant, from, to };
        const entries = await filterEntries(db(), idOf(tenant), query);
        const filter: LedgerFilter = withUnbilled ? { ...entries, kinds: ['usage', 'unbilled'] } : entries;
        const expected = await expectedOf(filter);
        expect(await walk(filter, limit)).toEqual(expected);
        expect(await turnPages(filter, limit)).toEqual(expected);
      },
    ),
    // A statement takes several times as long on a cluster.
    { numRuns: isDistributed() ? 8 : 30 },
  );
}

/** Leaves all sums as deltas, and locks some of them, in a transaction that stays open. */
async function keepDeltas(
  client: PoolClient,
  of: TestTenant,
  times: readonly string[],
  seqs: readonly number[],
): Promise<void> {
  let kept = 0;
  // The service may add them up before they are locked.
  while (kept < seqs.length) {
    await moveInTime(db(), idOf(of), times);
    await client.query('rollback');
    await client.query('begin');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const { rowCount } = await client.query(
      'select from usage_deltas where tenant_id = $1 and seq = any($2) for update skip locked',
      [idOf(of), seqs],
    );
    kept = rowCount ?? 0;
  }
}

async function withDeltas(
  of: TestTenant,
  times: readonly string[],
  seqs: readonly number[],
  run: () => Promise<void>,
): Promise<void> {
  const client = await db().connect();
  try {
    await keepDeltas(client, of, times, seqs);
    // Passes over what is locked.
    await foldUsage({ db: db() });
    await run();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const filterOf = (room: string, to?: Date) =>
  filterEntries(db(), idOf(tenant), { kinds: undefined, room, participant: undefined, from: undefined, to });

test('the records of the tenant lie in two places of the table', async () => {
  const { rows } = await db().query(
    `select max(page) - min(page) as pages from (
       select (ctid::text::point)[0] as page from usage_records where tenant_id = $1) as r`,
    [idOf(tenant)],
  );
  expect(rows[0].pages).toBeGreaterThan(256);
});

describe('a walk with a room', () => {
  test('finds every record of it once, while sums are deltas', expectEqual);

  test('finds every record of it once, when every other delta is added up', async () => {
    const even = TIMES.map((_, at) => at + 1).filter((seq) => seq % 2 === 0);
    await withDeltas(tenant, TIMES, even, expectEqual);
  });

  test('finds every record of it once, when sums are added up', async () => {
    await foldUsage({ db: db() });
    await expectEqual();
  });

  test('finds every record of it once, when days are rolled up', async () => {
    await rollUpUsage(app.service.deps);
    await expectEqual();
  });

  test('looks through the hours that have the room, and no others', async () => {
    const filter = await filterOf('rare');
    const stretch = await readStretch(db(), idOf(tenant), filter, beginningOf(filter), 50);
    expect(stretch?.lines.map(({ record }) => record?.room)).toEqual(['rare', 'rare']);
    const hourOf = (posting: number) => Math.floor(MINUTES[posting]! / 60);
    const looked = MINUTES.map((_, posting) => posting).filter(
      (posting) => [hourOf(4), hourOf(29)].includes(hourOf(posting)) && posting % 9 !== 8,
    );
    expect(stretch?.looked).toBe(looked.reduce((sum, posting) => sum + SIZES[posting % SIZES.length]!, 0));
  });

  test('ends at once where no sum has the room', async () => {
    const nowhere = await filterOf('nowhere');
    expect(await readStretch(db(), idOf(tenant), nowhere, beginningOf(nowhere), 50)).toBeUndefined();
    const before = await filterOf('rare', new Date(FIRST + MINUTES[4]! * MINUTE_MS));
    const rest = await readLedgerPage(db(), idOf(tenant), before, beginningOf(before), 50);
    expect(rest).toEqual({ lines: [], place: undefined });
  });

  test('does not pass over days that wait, for an older delta', async () => {
    const daily = await app.signUp();
    const days = Array.from({ length: 40 }, (_, at) =>
      new Date(FIRST + at * 24 * 60 * MINUTE_MS).toISOString(),
    );
    for (const _ of days) await report(app, daily, manyRecords(1, { room: 'daily' }));
    await withDeltas(daily, days, [1], async () => {
      const query = {
        kinds: undefined,
        room: 'daily',
        participant: undefined,
        from: undefined,
        to: undefined,
      };
      const filter = await filterEntries(db(), idOf(daily), query);
      const { lines } = await readLedgerPage(db(), idOf(daily), filter, beginningOf(filter), 100);
      expect(lines.map(({ posting }) => Number(posting.seq))).toEqual(days.map((_, at) => days.length - at));
    });
  });
});

test('postings are found without a gap, when the newest are much larger than the others', async () => {
  const mixed = await app.signUp();
  const [small, large] = [100, 16];
  for (let count = 0; count < small; count += 1) await report(app, mixed, manyRecords(1));
  for (let count = 0; count < large; count += 1) await report(app, mixed, manyRecords(60));
  const ranges = [
    { first: 10n, last: BigInt(small + large) },
    { first: 1n, last: 5n },
  ];
  const found = await findPostings(db(), idOf(mixed), ['usage'], ranges, 2_000);
  const seqs = found.map(({ seq }) => Number(seq));
  expect(seqs.length).toBeGreaterThan(large);
  expect(seqs).toEqual(seqs.map((_, at) => small + large - at));
});

test('a page of a participant looks through 40,000 records, and says where others may follow', async () => {
  const of = await app.signUp();
  await report(app, of, manyRecords(1, { participant: 'seldom' }));
  for (let batches = 0; batches < 9; batches += 1)
    await report(app, of, manyRecords(5_000, { participant: 'often' }));
  const query = { kinds: undefined, room: undefined, participant: 'seldom', from: undefined, to: undefined };
  const filter = await filterEntries(db(), idOf(of), query);
  const first = await readLedgerPage(db(), idOf(of), filter, beginningOf(filter), 10);
  expect(first.lines).toEqual([]);
  const second = await readLedgerPage(db(), idOf(of), filter, first.place!, 10);
  expect(second.lines.map(({ record }) => record?.participant)).toEqual(['seldom']);
  expect(second.place).toBeUndefined();
});
