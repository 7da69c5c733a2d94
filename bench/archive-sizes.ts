/** Charging beside archives of several sizes: what checking an id against all archived ones costs. */
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../src/base/db/transaction.ts';
import { hashText } from '../src/money/records/known-ids/id-hash.ts';
import { insertRun } from '../src/money/records/known-ids/insert-run.ts';
import { mergeRuns } from '../src/money/records/known-ids/merge-runs.ts';
import { compareTraffic, KINDS, openCharging, TRAFFIC } from './archive.ts';
import { fill, type Ids, openSide, type Side, settle } from './archive-filled.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { readWalBytes } from './costs.ts';
import { named } from './flat-ledger.ts';
import { openStand } from './stand.ts';

const SIZES = (process.env.BENCH_SIZES ?? '1000000,10000000,50000000').split(',').map(Number);
const CHUNK = 10_000;
/** Rows that are not archived yet, in both databases. */
const HOT = 1_000_000;
/** All filters fit. */
const FILTER_MB = '1024';

export const archiveSizes: Benchmark = {
  name: 'archive-sizes',
  summary: `charging with ${SIZES.map(named).join(', ')} archived usage records, and with none`,
  protocol: `Two databases have a tenant with ${named(HOT)} records as rows. One also knows the ids of archived records, as many
    as the sizes say; the records themselves are left out, for charging new ones does not read them. Services on both get batches of new
    records, one request at a time and in turns; the result is CPU time of the service and PostgreSQL a request. The services have
    memory for all filters; then one with 64 MB gets some, beside none.`,
  rounds: 5,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    for (const { ids, ratioMax } of KINDS) {
      const sides = await Promise.all(
        ['empty', 'archived'].map((name) =>
          openSide(bench, stand, `${name}_${ids === 'UUIDs' ? 'uuids' : 'ordered'}`, ids),
        ),
      );
      const [empty, archived] = sides as [Side, Side];
      // The posting of these is the last one that is archived.
      for (const side of sides) await fill(bench, side, 1, 1);
      for (const side of sides) await fill(bench, side, HOT, 500);
      for (const side of sides) await settle(side);
      // Ids are archived here without their chunks.
      await archived.stand.db.query('alter table accounts disable trigger end_of_archive');
      let chunks = 0;
      for (const size of SIZES) {
        for (; chunks * CHUNK < size; chunks += 1) await archiveIds(bench, archived, ids, chunks + 1);
        await settle(archived);
        await compareWith(bench, archived, empty, `${named(size)} archived ${ids}`, ratioMax);
      }
    }
  },
};

/** Notes the ids of one more chunk, as the move of records does. */
async function archiveIds(
  bench: Bench,
  { deps, tenants: [own] }: Side,
  ids: Ids,
  chunk: number,
): Promise<void> {
  if (chunk % 100 === 1) bench.progress(`archiving ${ids}, at ${named((chunk - 1) * CHUNK)}`);
  const { tenant } = own!;
  const idAt = (at: number) =>
    ids === 'UUIDs' ? randomUUID() : `relay9-room${at % 40}-${chunk * CHUNK + at}`;
  const hashes = Float64Array.from({ length: CHUNK }, (_, at) => hashText(idAt(at)));
  const isMergeDue = await inTransaction(deps.db, async (tx) => {
    await tx.query('update accounts set archived_seq = 1 where tenant_id = $1', [tenant]);
    return insertRun(tx, tenant, { hashes, chunk, lastSeq: 1n });
  });
  if (isMergeDue) await mergeRuns(deps.db, tenant);
}

async function compareWith(
  bench: Bench,
  archived: Side,
  empty: Side,
  name: string,
  atMost: number,
): Promise<void> {
  const memory = { BENCH_FILTER_MB: FILTER_MB };
  const floor = await openCharging(bench, 'empty', empty, memory);
  const begun = performance.now();
  const ours = await openCharging(bench, 'archived', archived, memory);
  bench.note(`${name}: until it serves`, performance.now() - begun, 'ms');
  await compareTraffic(bench, [floor, ours], name, atMost);
  for (const [of, side] of [
    ['empty', { ...floor, ...empty }],
    ['archived', { ...ours, ...archived }],
  ] as const) {
    const before = await readWalBytes(side.stand);
    await side.of(5_000, 12).round(0);
    bench.note(
      `${name}: WAL of a batch of 5,000, ${of}`,
      ((await readWalBytes(side.stand)) - before) / 12,
      'B',
    );
  }
  await Promise.all([floor.stop(), ours.stop()]);
  const small = await openCharging(bench, 'archived', archived, { BENCH_FILTER_MB: '64' });
  for (const [records, requests] of TRAFFIC) {
    const { round } = small.of(records, requests);
    await round(0);
    bench.note(`charging ${named(records)}, ${name}, with 64 MB for filters`, (await round(1)).value, 'us');
  }
  await small.stop();
}
