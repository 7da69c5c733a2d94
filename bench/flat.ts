/** The extra cost of a large ledger over a small one. */
import type { Bench, Benchmark } from './benchmark.ts';
import { BATCH, type Ledger, named, openLedger, TENANTS, type Tenant } from './flat-ledger.ts';
import { requestBytes, runLoad } from './load.ts';
import { openStand } from './stand.ts';
import { median } from './statistics.ts';
import { parseCharged } from './usage-records.ts';

const SMALL = 10_000;
const LARGE = Number(process.env.BENCH_RECORDS ?? 10_000_000);
const READS_PER_ROUND = 200;
const BATCHES_PER_ROUND = 3;
const BYTES_MAX = 200;

export const flat: Benchmark = {
  name: 'flat',
  minutes: 2,
  summary: `reading and charging with ${named(LARGE)} usage records, and with ${named(SMALL)}`,
  protocol: `Two databases on one server, one with ${named(LARGE)} usage records and one with ${named(SMALL)}, of ${TENANTS}
    tenants of which one has half. They were filled through POST /v1/usage, and vacuumed. Relays report the
    intervals of 500 participants each in turn, every stay having 1 to 240 of them; one batch in 20 is of ${named(BATCH)}
    records, the others of 20 to 500. Then one request is in flight at a time, each database having a service
    process of its own: ${READS_PER_ROUND} of GET /v1/billing a round, of the tenant with half of the records and of another;
    and of the first, ${BATCHES_PER_ROUND} batches of ${named(BATCH)} a round: old ones, from the middle of its ledger, and at last new
    ones, by which the small ledger grows. The result is the median of each round.`,
  async run(bench) {
    const stand = await openStand(bench);
    const small = await openLedger(bench, stand, SMALL);
    const large = await openLedger(bench, stand, LARGE);
    await noteBytes(bench, large);

    const compareLedgers = (title: string, ratioMax: number, measure: Measure) =>
      bench.compare({
        title,
        unit: 'ms',
        contestants: [contestant(small, 'floor', measure), contestant(large, 'ours', measure)],
        goals: [{ of: large.name, to: small.name, atMost: ratioMax }],
      });
    await compareLedgers('GET /v1/billing, half of the records', 1.2, ({ url, big }) => read(url, big));
    await compareLedgers('GET /v1/billing, another tenant', 1.2, ({ url, other }) => read(url, other));
    await compareLedgers(`an old batch of ${named(BATCH)}`, 1.5, ({ url, old }, round) => {
      return charge(url, chooseOld(old, round), { charged: 0 });
    });
    await compareLedgers(`a new batch of ${named(BATCH)}`, 1.3, ({ url, big }) => {
      const batches = Array.from({ length: BATCHES_PER_ROUND }, () => big.relays.batch(BATCH));
      return charge(url, batches, { charged: BATCH });
    });
  },
};

/** Returns latencies. */
type Measure = (ledger: Ledger, round: number) => Promise<readonly number[]>;

function contestant(ledger: Ledger, role: 'floor' | 'ours', measure: Measure) {
  return {
    name: ledger.name,
    role,
    round: async (round: number) => {
      const latencies = await measure(ledger, round);
      return { value: median(latencies), latencies };
    },
  };
}

async function read(url: string, { backendKey }: Tenant): Promise<readonly number[]> {
  const request = requestBytes('GET', `${url}/v1/billing`, { token: backendKey });
  const { latencies } = await runLoad({
    urls: [url],
    connections: 1,
    request: () => request,
    until: { requests: READS_PER_ROUND },
    statuses: [200],
    isRight: (body) => JSON.parse(body).recent.length === 50,
  });
  return latencies;
}

/** `charged` is the expected number in each answer. */
async function charge(
  url: string,
  batches: readonly Buffer[],
  { charged }: { readonly charged: number },
): Promise<readonly number[]> {
  const { latencies } = await runLoad({
    urls: [url],
    connections: 1,
    request: (index) => batches[index]!,
    until: { requests: batches.length },
    statuses: [200],
    isRight: (body) => parseCharged(body).charged === charged,
  });
  return latencies;
}

/** Different items in each round, as long as there are enough. */
function chooseOld(old: readonly Buffer[], round: number): Buffer[] {
  const first = round * BATCHES_PER_ROUND;
  return Array.from({ length: BATCHES_PER_ROUND }, (_, index) => old[(first + index) % old.length]!);
}

async function noteBytes(bench: Bench, { name, db }: Ledger): Promise<void> {
  const { rows } = await db.query<{ records: number; heap: number; index: number; ledger: number }>(
    `select count(*)::float as records, pg_table_size('usage_records')::float as heap,
            pg_indexes_size('usage_records')::float as index,
            (pg_total_relation_size('postings') + pg_total_relation_size('accounts'))::float as ledger
       from usage_records`,
  );
  const { records, heap, index, ledger } = rows[0]!;
  const of = `of ${name}`;
  bench.note(`table ${of}`, heap / records, 'bytes a record');
  bench.note(`index ${of}`, index / records, 'bytes a record');
  bench.note(`table and index ${of}`, (heap + index) / records, 'bytes a record', { atMost: BYTES_MAX });
  bench.note(`postings and accounts ${of}`, ledger / records, 'bytes a record');
}
