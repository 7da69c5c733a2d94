/** The archive of usage records: what it takes, how fast it fills, and what charging and reading cost beside it. */
import { findArchiveState } from '../src/money/records/archive-state.sql.ts';
import { archive, fill, type Ids, openSide, type Side, settle } from './archive-filled.ts';
import type { Bench, Benchmark, Contestant, Limit } from './benchmark.ts';
import { measureCpu } from './cpu-meter.ts';
import { named } from './flat-ledger.ts';
import { requestBytes, runLoad } from './load.ts';
import { findPostmaster, openProcess, openStand } from './stand.ts';
import { median } from './statistics.ts';
import { parseCharged, usageRequest } from './usage-records.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 2_000_000);
const SMALL_RECORDS = 100_000;
const TINY = { tenants: 10, days: 30, records: 100 };
export const KINDS: readonly { readonly ids: Ids; readonly bytesMax: number; readonly ratioMax: number }[] = [
  { ids: 'ordered ids', bytesMax: 15, ratioMax: 1.1 },
  { ids: 'UUIDs', bytesMax: 31, ratioMax: 2 },
];
const TINY_BYTES_MAX = 40;
const BATCHES_OF_10_MAX = 200;
/** By records a request, requests a round. */
export const TRAFFIC: readonly (readonly [records: number, requests: number])[] = [
  [5_000, 12],
  [10, 200],
];
const READS = 200;

export const archives: Benchmark = {
  name: 'archive',
  summary: `bytes, speed and cost of the archive, with ${named(RECORDS)} archived usage records`,
  protocol: `A tenant is charged for ${named(RECORDS)} records in batches of 500, in this process and without waiting for the disk, and they are
    archived. Then services on this database and on an empty one get batches of new records, one request at a time; the result is CPU
    time of the service and PostgreSQL a request. Then a service without memory for filters gets some, beside none. Before and after the move, charges are
    explained, pages and all of the ledger are read. Bytes are those of tables, indexes and TOAST after a vacuum, divided by records.`,
  rounds: 5,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    for (const [at, { ids, bytesMax, ratioMax }] of KINDS.entries()) {
      const full = await openSide(bench, stand, `full_${at}`, ids);
      await fill(bench, full, RECORDS, 500);
      await moveAll(bench, full, `${ids} by 500`, { atMost: bytesMax });
      await compareCharging(bench, full, await openSide(bench, stand, `empty_${at}`, ids), ids, ratioMax);
      const small = await openSide(bench, stand, `small_${at}`, ids);
      await fill(bench, small, SMALL_RECORDS, 10);
      await moveAll(bench, small, `${ids} by 10`, { atMost: bytesMax });
    }
    const tiny = await openSide(bench, stand, 'tiny', 'ordered ids', TINY.tenants);
    for (let day = 0; day < TINY.days; day += 1) {
      await fill(bench, tiny, TINY.records, 10);
      await archive(tiny);
      await settle(tiny);
    }
    await noteBytes(bench, tiny, 'a tiny tenant, archived', { atMost: TINY_BYTES_MAX });
  },
};

async function moveAll(bench: Bench, side: Side, name: string, goal: Limit): Promise<void> {
  const measured = { pid: process.pid, postmaster: await findPostmaster(side.stand) };
  await noteBytes(
    bench,
    side,
    `${name}, as rows`,
    name.endsWith('by 10') ? { atMost: BATCHES_OF_10_MAX } : undefined,
  );
  const isLarge = name.endsWith('by 500');
  if (isLarge) await noteReads(bench, side, `${name}, as rows`);
  bench.progress(`${name}: archiving`);
  const start = performance.now();
  const { cpu, requests } = await measureCpu(measured, async () => {
    await archive(side);
    return { requests: (await findArchiveState(side.deps.db)).archived };
  });
  bench.note(`${name}: speed of the move`, requests / ((performance.now() - start) / 1000), 'records/s');
  bench.note(`${name}: CPU of the process, moving`, cpu.service, 'us a record');
  bench.note(`${name}: CPU of PostgreSQL, moving`, cpu.postgres, 'us a record');
  await noteBytes(bench, side, `${name}, archived`, goal);
  if (isLarge) await noteReads(bench, side, `${name}, archived`);
}

/** `goal`: of what the records take by themselves, in the store that they are in. */
async function noteBytes(bench: Bench, side: Side, name: string, goal?: Limit): Promise<void> {
  await settle(side);
  const { archived, rows, rowBytes, archivedBytes } = await findArchiveState(side.deps.db);
  const records = archived || rows!;
  const { rows: found } = await side.stand.db.query<{ postings: number; chunks: number; known: number }>(
    `select pg_total_relation_size('postings')::float8 as postings, pg_total_relation_size('record_chunks')::float8 as chunks,
            (select sum(length(page)) from known_id_pages)::float8 as known`,
  );
  const postings = found[0]!.postings / records;
  if (archived > 0) {
    bench.note(`${name}`, archivedBytes / records, 'B a record', goal);
    bench.note(`${name}: chunks alone`, found[0]!.chunks / records, 'B a record');
    bench.note(`${name}: known ids, without what merges left free`, found[0]!.known / records, 'B a record');
    bench.note(`${name}: what their rows leave for new ones`, rowBytes / records, 'B a record');
  } else bench.note(`${name}, with postings`, rowBytes / records + postings, 'B a record', goal);
  bench.note(`${name}: postings`, postings, 'B a record');
}

async function compareCharging(
  bench: Bench,
  full: Side,
  empty: Side,
  ids: Ids,
  atMost: number,
): Promise<void> {
  const floor = await openCharging(bench, 'empty', empty);
  const ours = await openCharging(bench, 'archived', full);
  await compareTraffic(bench, [floor, ours], ids, atMost);
  await ours.stop();
  const unfiltered = await openCharging(bench, 'without filter', full, { BENCH_FILTER_MB: '0' });
  for (const [records, requests] of TRAFFIC) {
    const { round } = unfiltered.of(records, requests);
    await round(0);
    bench.note(`charging ${named(records)}, ${ids}, without filter`, (await round(1)).value, 'us');
  }
  await Promise.all([floor.stop(), unfiltered.stop()]);
}

/** Compares a service on an empty archive, the first, with one on another archive. */
export async function compareTraffic(
  bench: Bench,
  services: readonly Awaited<ReturnType<typeof openCharging>>[],
  name: string,
  atMost: number,
): Promise<void> {
  for (const [records, requests] of TRAFFIC) {
    await bench.compare({
      title: `charging ${named(records)}, ${name}`,
      unit: 'us',
      contestants: services.map(({ of }) => of(records, requests)),
      // The first rounds load the filter.
      warmUpRounds: 3,
      goals: [{ of: 'archived', to: 'empty', atMost }],
    });
  }
}

/** `of`: so many records a request, and requests a round. */
export async function openCharging(
  bench: Bench,
  name: string,
  { stand, tenants: [tenant] }: Side,
  environment: NodeJS.ProcessEnv = {},
) {
  const postmaster = await findPostmaster(stand);
  const { url, pid, stop } = await openProcess(bench, stand, './service.ts', environment);
  const { key, reports } = tenant!;
  const of = (records: number, requests: number): Contestant => ({
    name,
    role: name === 'empty' ? 'floor' : 'ours',
    round: async () => {
      const bodies = Array.from({ length: requests }, () => usageRequest(url, key, reports.rows(records)));
      const { cpu, latencies } = await measureCpu({ pid, postmaster }, () =>
        runLoad({
          urls: [url],
          connections: 1,
          request: (index) => bodies[index]!,
          until: { requests },
          statuses: [200],
          isRight: (body) => parseCharged(body).charged === records,
        }),
      );
      return { value: cpu.service + cpu.postgres, latencies, cpu };
    },
  });
  return { of, stop };
}

async function noteReads(bench: Bench, side: Side, name: string): Promise<void> {
  const { url, pid, stop } = await openProcess(bench, side.stand, './service.ts');
  const { tenant, backendKey: token } = side.tenants[0]!;
  const { rows } = await side.stand.db.query<{ id: string }>(
    'select newest_ids[1] as id from postings where tenant_id = $1 order by seq limit $2',
    [tenant, READS],
  );
  const reads = {
    'explaining a charge': rows.map(({ id }) =>
      requestBytes('GET', `${url}/v1/usage/${id}/explain`, { token }),
    ),
    'a page of the ledger': rows.map(() => requestBytes('GET', `${url}/v1/ledger`, { token })),
  };
  for (const [read, requests] of Object.entries(reads)) {
    const until = { requests: requests.length };
    const request = (index: number) => requests[index]!;
    const { latencies } = await runLoad({ urls: [url], connections: 1, request, until, statuses: [200] });
    bench.note(`${name}: ${read}`, median(latencies), 'ms');
  }
  bench.progress(`${name}: the ledger as CSV`);
  const { cpu } = await measureCpu({ pid, postmaster: await findPostmaster(side.stand) }, () =>
    readCsv(url, token),
  );
  bench.note(`${name}: CSV, CPU of the service`, cpu.service, 'us a line');
  bench.note(`${name}: CSV, CPU of PostgreSQL`, cpu.postgres, 'us a line');
  await stop();
}

/** As many lines as there are records. */
async function readCsv(url: string, token: string): Promise<{ readonly requests: number }> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/csv' };
  const { body } = await fetch(`${url}/v1/ledger`, { headers });
  let lines = -1;
  for await (const piece of body!) for (const byte of piece) if (byte === 10) lines += 1;
  if (lines < RECORDS) throw new Error(`the ledger has ${lines} lines`);
  return { requests: lines };
}
