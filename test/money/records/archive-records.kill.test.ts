/** A process that is killed while it archives and charges. `ROUNDS=200` kills it more often. */
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { expect, it } from 'vitest';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { KnownFilters } from '../../../src/money/records/known-ids/known-filters.ts';
import type { ReadRecord } from '../../../src/money/records/read-record.ts';
import { readRecords } from '../../../src/money/records/read-records.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { seeded } from '../../support/seeded.ts';
import { ask, usageRecord } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 12);
const LANES = 4;
const RECORDS_MAX = 400;

const database = useDatabase();
const service = useChildService(database, { archives: true });
const random = seeded(7);
const below = (end: number) => Math.floor(random() * end);

type Fields = Record<string, unknown>;

interface Reporter {
  readonly tenant: TenantId;
  readonly key: string;
  /** The new records of all batches. */
  readonly sent: Fields[];
  /** Those of them that were answered. */
  readonly confirmed: Fields[];
}

async function makeReporter(): Promise<Reporter> {
  const tenant = await makeTenant(database.pool, { status: 'active' });
  const { plaintext: key } = await makeKey(database.pool, tenant, 'relay');
  return { tenant, key, sent: [], confirmed: [] };
}

/** Some neighbours, so that they are of few chunks. */
function someOf(records: readonly Fields[]): Fields[] {
  const from = below(records.length);
  return records.slice(from, from + 1 + below(RECORDS_MAX));
}

const report = async ({ key }: Reporter, records: readonly Fields[]) =>
  ask(`${service.url}/v1/usage`, 'POST', { key, body: { records } });

/** Reports until the process is killed. Answers about known ids are counted. */
async function sendBatches(reporter: Reporter, counts: { repeated: number }): Promise<void> {
  for (;;) {
    const made = below(3) === 0 ? [] : Array.from({ length: 1 + below(RECORDS_MAX) }, () => usageRecord());
    const known = below(2) === 0 ? [] : someOf(reporter.confirmed);
    const changed = below(4) === 0;
    const repeated = changed ? known.map((record) => ({ ...record, seconds: 59 })) : known;
    reporter.sent.push(...made);
    const answer = await report(reporter, [...made, ...repeated]).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ charged: made.length, duplicates: repeated.length });
    reporter.confirmed.push(...made);
    counts.repeated += repeated.length;
  }
}

async function readAll(tenant: TenantId): Promise<ReadRecord[]> {
  const all: ReadRecord[] = [];
  await withSnapshot(database.pool, async (snapshot) => {
    for await (const records of readRecords(snapshot, { tenant })) all.push(...records);
  });
  return all;
}

async function countRows(table: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: bigint }>(`select count(*) from ${table}`);
  return Number(rows[0]!.count);
}

async function countArchived(): Promise<number> {
  const { rows } = await database.pool.query<{ sum: bigint | null }>(
    'select sum(records) from record_chunks',
  );
  return Number(rows[0]!.sum);
}

/** Until more records than these are archived. */
async function untilArchived(records: number): Promise<void> {
  await expect.poll(countArchived, { timeout: 60_000 }).toBeGreaterThan(records);
}

it('a process killed while archiving charges each id once and loses no record', {
  timeout: 300_000 + ROUNDS * 5_000,
}, async () => {
  const reporters = [await makeReporter(), await makeReporter()];
  const counts = { repeated: 0, growing: 0, leftRows: 0 };
  let records = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await service.start();
    const lanes = Array.from({ length: LANES }, (_, at) =>
      sendBatches(reporters[at % reporters.length]!, counts),
    );
    // On a busy machine, nothing may be archived so soon: every other process is killed after it has archived something.
    if (round % 2 === 1) await Promise.race([untilArchived(records), ...lanes]);
    await Promise.all([...lanes, wait(50 + below(1_200)).then(service.kill)]);
    if ((await countRows('record_chunks where has_rows')) > 0) counts.leftRows += 1;
    const archived = await countArchived();
    if (archived > records) counts.growing += 1;
    records = archived;
  }

  const knownFilters = new KnownFilters({ bytesMax: 0 });
  const config = { archiveAfterSeconds: 0 };
  const log = pino({ level: 'silent' });
  await archiveRecords({ db: database.pool, log, metrics: makeMetrics(), knownFilters, config });
  expect(await countRows('usage_records')).toBe(0);
  expect(await countRows('record_chunks where has_rows')).toBe(0);
  const { differences } = await findDifferences(database.pool, { at: () => {} });
  expect(differences).toEqual([]);

  await service.start();
  for (const reporter of reporters) {
    const stored = new Map((await readAll(reporter.tenant)).map((record) => [record.id, record]));
    for (const { id, seconds } of reporter.confirmed) expect(stored.get(String(id))?.seconds).toBe(seconds);
    for (let at = 0; at < reporter.sent.length; at += 5_000) {
      const records = reporter.sent.slice(at, at + 5_000);
      const duplicates = records.filter(({ id }) => stored.has(String(id))).length;
      const answer = await report(reporter, records);
      expect(answer.json).toMatchObject({ charged: records.length - duplicates, duplicates });
    }
    const all = await readAll(reporter.tenant);
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(reporter.sent.map(({ id }) => id)));
    expect(all).toHaveLength(reporter.sent.length);
    const { rows } = await database.pool.query<{ balance: bigint }>(
      'select balance from accounts where tenant_id = $1',
      [reporter.tenant],
    );
    expect(rows[0]!.balance).toBe(-all.reduce((sum, { amount }) => sum + amount, 0n));
  }
  expect(counts.repeated).toBeGreaterThan(0);
  expect(counts.growing).toBeGreaterThan(0);
  if (process.env.ROUNDS)
    console.info({ rounds: ROUNDS, ...counts, sent: reporters.map(({ sent }) => sent.length) });
});
