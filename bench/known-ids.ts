/** Checking ids against those of archived records: by a filter in memory, and by pages in the database. */
import { openPool, type Pool } from '../src/base/db/pool.ts';
import { inTransaction } from '../src/base/db/transaction.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { findChunkNumbers } from '../src/money/records/known-ids/find-chunk-numbers.ts';
import { hashText } from '../src/money/records/known-ids/id-hash.ts';
import { insertRun } from '../src/money/records/known-ids/insert-run.ts';
import { KnownFilters } from '../src/money/records/known-ids/known-filters.ts';
import { listRuns } from '../src/money/records/known-ids/known-ids.sql.ts';
import { mergeRuns } from '../src/money/records/known-ids/merge-runs.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { measureCpu } from './cpu-meter.ts';
import { findPostmaster, openStand, type Stand } from './stand.ts';

const TENANT = 1n as TenantId;
const CHUNKS = 360;
const CHUNK = 10_000;
const CHECKED = 100_000;

const hashesOf = (prefix: string, count: number, from = 0) =>
  Float64Array.from({ length: count }, (_, at) =>
    hashText(`${prefix}-${String(from + at).padStart(6, '0')}`),
  );

async function archive(db: Pool): Promise<void> {
  for (let chunk = 1; chunk <= CHUNKS; chunk += 1) {
    const archived = { hashes: hashesOf(`relay1-${chunk}`, CHUNK), chunk, lastSeq: BigInt(chunk) };
    if (await inTransaction(db, (tx) => insertRun(tx, TENANT, archived))) await mergeRuns(db, TENANT);
  }
}

/** Bytes for each archived id, without what merges left free. */
async function noteSize(bench: Bench, { db }: Stand): Promise<void> {
  await db.query('vacuum full analyze known_id_pages');
  const { rows } = await db.query<{ pages: number; disk: number }>(
    `select sum(length(page))::float8 as pages, pg_total_relation_size('known_id_pages')::float8 as disk
       from known_id_pages`,
  );
  bench.note('in pages', rows[0]!.pages / (CHUNKS * CHUNK), 'B an id');
  bench.note('on disk', rows[0]!.disk / (CHUNKS * CHUNK), 'B an id');
}

export const knownIds: Benchmark = {
  name: 'known-ids',
  summary: 'checking ids against those of archived records, by a filter and by pages',
  protocol: `A tenant archives ${CHUNKS} chunks of ${CHUNK} ids, and merges runs when that is due. Then new and archived ids
    are checked in batches of several sizes. The result is CPU time of this process and of PostgreSQL for each id.`,
  async run(bench) {
    const stand = await openStand(bench);
    const db = openPool(stand.databaseUrl, { max: 4, plansByKey: true });
    await bench.use(Promise.resolve(db), () => db.end());
    const postmaster = await findPostmaster(stand);
    const measure = async (name: string, requests: number, work: () => Promise<unknown>) => {
      bench.progress(name);
      const { cpu } = await measureCpu({ pid: process.pid, postmaster }, async () => {
        await work();
        return { requests };
      });
      bench.note(`${name}: process`, cpu.service, 'us an id');
      bench.note(`${name}: PostgreSQL`, cpu.postgres, 'us an id');
    };
    await measure('archiving, with merges', CHUNKS * CHUNK, () => archive(db));
    bench.note('runs', (await listRuns(db, TENANT)).length, '');
    await noteSize(bench, stand);
    const filters = new KnownFilters({ bytesMax: 2 ** 26 });
    await measure('loading the filter', CHUNKS * CHUNK, () => filters.load(db, TENANT, BigInt(CHUNKS)));
    bench.note('memory of the filter', filters.bytes / (CHUNKS * CHUNK), 'B an id');
    for (const batch of [5_000, 500, 10]) {
      const checks: [string, (from: number) => Float64Array, number][] = [
        ['new ids', (from) => hashesOf('relay2-7', batch, from), batch === 10 ? CHECKED / 10 : CHECKED],
        ['archived ids', (from) => hashesOf('relay1-7', batch, from), CHUNK],
      ];
      for (const [what, hashesFrom, count] of checks) {
        const batches = Array.from({ length: count / batch }, (_, at) => hashesFrom(at * batch));
        const find = (suspectsOf: (hashes: Float64Array) => Iterable<number>) => async () => {
          for (const hashes of batches) await findChunkNumbers(db, TENANT, suspectsOf(hashes));
        };
        const suspectsOf = (hashes: Float64Array) => filters.suspects(TENANT, hashes);
        await measure(`${what} by ${batch}, filter alone`, count, async () => batches.map(suspectsOf));
        await measure(`${what} by ${batch}, filter and pages`, count, find(suspectsOf));
        await measure(
          `${what} by ${batch}, pages alone`,
          count,
          find((hashes) => hashes),
        );
      }
    }
  },
};
