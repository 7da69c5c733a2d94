import { expect, it } from 'vitest';
import type { Tx } from '../../../../src/base/db/pool.ts';
import { findSuspectChunks } from '../../../../src/money/records/archived-repeats.ts';
import { findSuspects } from '../../../../src/money/records/known-ids/find-suspects.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { KnownFilters } from '../../../../src/money/records/known-ids/known-filters.ts';
import { UsageRecords } from '../../../../src/money/records/usage-records.ts';
import { useDatabase } from '../../../support/database.ts';
import { ArchivingTenant, hashesOf } from './archive.ts';

const database = useDatabase();

const accountOf = ({ tenant, archivedSeq }: ArchivingTenant) =>
  ({ tenant, archivedSeq, status: 'active' }) as const;

function open() {
  const knownFilters = new KnownFilters({ bytesMax: 2 ** 20 });
  const errors: unknown[] = [];
  return {
    db: database.pool,
    knownFilters,
    log: { warn: (error: unknown) => void errors.push(error) } as never,
    errors,
  };
}

function countingStatements() {
  const counting = {
    statements: 0,
    query: (...given: unknown[]) => {
      counting.statements += 1;
      return (database.pool.query as (...all: unknown[]) => unknown)(...given);
    },
  };
  return counting as unknown as Tx & { statements: number };
}

it('are found by the pages while the filter is loaded, and by both afterwards', async () => {
  const deps = open();
  const archive = new ArchivingTenant(database, 1n);
  await archive.archive(1_000);
  await archive.archive(1_000);
  const tx = countingStatements();
  const find = (ids: readonly string[]) => findSuspects(deps, tx, accountOf(archive), hashesOf(ids));

  const asked = ['new', '1-1-7', 'newer', '1-2-8'];
  const wanted = new Map([
    [hashText('1-1-7'), [1]],
    [hashText('1-2-8'), [2]],
  ]);
  expect(await find(asked)).toEqual(wanted);
  expect(tx.statements).toBe(1);
  await expect.poll(() => deps.knownFilters.covers(archive.tenant, archive.archivedSeq)).toBe(true);
  expect(await find(asked)).toEqual(wanted);
  tx.statements = 0;
  expect(await find(['new', 'newer'])).toEqual(new Map());
  expect(tx.statements).toBe(0);
  expect(deps.errors).toEqual([]);
});

it('of a tenant without archived records are none, without a question', async () => {
  const never = () => {
    throw new Error('asked');
  };
  const deps = { ...open(), db: { query: never } as never };
  const archive = new ArchivingTenant(database, 2n);
  expect(await findSuspects(deps, { query: never } as never, accountOf(archive), hashesOf(['a']))).toEqual(
    new Map(),
  );
});

it('are found in spite of a load that fails', async () => {
  const deps = { ...open(), db: { query: async () => Promise.reject(new Error('away')) } as never };
  const archive = new ArchivingTenant(database, 3n);
  await archive.archive(100);
  expect(await findSuspects(deps, database.pool, accountOf(archive), hashesOf(['3-1-5', 'new']))).toEqual(
    new Map([[hashText('3-1-5'), [1]]]),
  );
  await expect.poll(() => deps.errors).toHaveLength(1);
});

it('of many batches are looked up by one statement', async () => {
  const deps = { ...open(), knownFilters: new KnownFilters({ bytesMax: 0 }) };
  const archive = new ArchivingTenant(database, 4n);
  await archive.archive(100);
  const db = countingStatements();
  const one = { role: 'host', tier: 'hd', seconds: 1, egressBytes: 1n, ingressBytes: 1n } as const;
  const batches = ['4-1-5', 'new', '4-1-7'].map((id) => UsageRecords.from([{ ...one, id } as never]));
  expect(await findSuspectChunks(deps, db, accountOf(archive), batches)).toEqual(new Set([1]));
  expect(db.statements).toBe(1);
});
