/** What reporters notice when the archive is turned on for a database that has many records. */
import { findArchiveState } from '../src/money/records/archive-state.sql.ts';
import { fill, openSide, type Side, settle } from './archive-filled.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { readWalBytes } from './costs.ts';
import { named } from './flat-ledger.ts';
import { runLoad } from './load.ts';
import { openProcess, openStand } from './stand.ts';
import { percentile } from './statistics.ts';
import { parseCharged, usageRequest } from './usage-records.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 10_000_000);
/** Requests a second; 0: each connection sends the next one at once. */
const PACE = Number(process.env.BENCH_PACE ?? 0);
const TENANTS = 4;
const BATCH = 10;
/** The load is sent in stretches; after each, the archive is asked how far it is. */
const STRETCH_SECONDS = 10;
const STRETCHES_BEFORE = 6;

export const archiveBegins: Benchmark = {
  name: 'archive-begins',
  summary: `charging while the archive takes ${named(RECORDS)} usage records that are rows`,
  protocol: `${TENANTS} tenants have ${named(RECORDS)} records as rows, charged in batches of 500 and vacuumed. ${TENANTS} connections, one of each tenant,
    send batches of ${BATCH} new records ${PACE === 0 ? 'one after the other' : `at ${PACE} a second`}: for a minute to a service without an archive, which is the floor, and then
    to one that archives whatever there is, until as many are archived. Commits wait for the disk. Latencies are those of the whole
    time.`,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    const side = await openSide(bench, stand, 'begins', 'ordered ids', TENANTS);
    await fill(bench, side, RECORDS / TENANTS, 500);
    await settle(side);
    await noteCharging(
      bench,
      side,
      'without an archive',
      {},
      async (stretches) => stretches === STRETCHES_BEFORE,
    );
    const start = performance.now();
    await noteCharging(bench, side, 'while records move', { BENCH_ARCHIVE_AFTER: '0' }, async () => {
      const { archived } = await findArchiveState(side.stand.db);
      bench.progress(`${named(archived)} of ${named(RECORDS)} are archived`);
      return archived >= RECORDS;
    });
    bench.note('the move', (performance.now() - start) / 1000, 's');
  },
};

/** `isOver`: asked after each stretch with the number of stretches so far. */
async function noteCharging(
  bench: Bench,
  { stand, tenants }: Side,
  name: string,
  environment: NodeJS.ProcessEnv,
  isOver: (stretches: number) => Promise<boolean>,
): Promise<void> {
  const { url, stop, memoryMb } = await openProcess(bench, stand, './service.ts', environment);
  const latencies: number[] = [];
  const walBefore = await readWalBytes(stand);
  const start = performance.now();
  for (let stretches = 1; ; stretches += 1) {
    const load = await runLoad({
      urls: [url],
      connections: TENANTS,
      request: (_index, connection) => {
        const { key, reports } = tenants[connection]!;
        return usageRequest(url, key, reports.rows(BATCH));
      },
      until: { seconds: STRETCH_SECONDS },
      ...(PACE > 0 && { pace: PACE }),
      statuses: [200],
      isRight: (body) => parseCharged(body).charged === BATCH,
    });
    latencies.push(...load.latencies);
    if (await isOver(stretches)) break;
  }
  const seconds = (performance.now() - start) / 1000;
  const sorted = Float64Array.from(latencies).sort();
  bench.note(`${name}: rate`, latencies.length / seconds, 'requests/s');
  for (const percent of [50, 99, 99.9]) bench.note(`${name}: p${percent}`, percentile(sorted, percent), 'ms');
  bench.note(`${name}: longest`, sorted.at(-1)!, 'ms');
  bench.note(`${name}: WAL`, ((await readWalBytes(stand)) - walBefore) / seconds / 1e6, 'MB/s');
  bench.note(`${name}: resident memory of the service`, await memoryMb(), 'MB');
  await stop();
}
