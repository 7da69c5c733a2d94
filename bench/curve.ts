/** What five works cost while the tables grow. */
import { writeFile } from 'node:fs/promises';
import type { Bench, Benchmark, Comparison, ComparisonResult, Contestant } from './benchmark.ts';
import { type Curve, drawCurves } from './curve-chart.ts';
import { openFilled } from './filled.ts';
import { named } from './flat-ledger.ts';
import { GUARDED_PAIRS, type Pair } from './guard.ts';
import { openStand, type Stand } from './stand.ts';

const SIZES = (process.env.BENCH_ROWS ?? '10000,1000000,20000000').split(',').map(Number);
const RATIO_MAX = 1.2;
const PICTURE = new URL('../docs/images/curve.svg', import.meta.url);

const WORKS = {
  'a batch of 10 records': GUARDED_PAIRS.small,
  'a batch of 5,000 records': GUARDED_PAIRS.large,
  'a join that renews': GUARDED_PAIRS.join,
  'a mint for a newcomer': GUARDED_PAIRS.newcomer,
  'CreateRoom with a key': GUARDED_PAIRS.keyed,
};

export const curve: Benchmark = {
  name: 'curve',
  summary: `five works with ${SIZES.map(named).join(', ')} rows in the tables that grow`,
  protocol: `Databases on one server, with ${SIZES.map(named).join(', ')} rows in each of participants, admissions, postings and events, of 200
    other tenants, vacuumed and analyzed. The five works and their floors are those of the guards. For each work, every database has a
    service process of its own, and the rounds of all of them and of the floor, on the smallest one, take turns. The result is CPU time of the service and PostgreSQL, in
    microseconds a request (Linux only). BENCH_ROWS has other numbers of rows. With BENCH_PICTURE=1 it draws docs/images/curve.svg.`,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    const filled: Stand[] = [];
    for (const rows of SIZES) filled.push(await openFilled(bench, stand, rows));
    const curves: Curve[] = [];
    for (const [title, open] of Object.entries(WORKS)) {
      curves.push(curveOf(title, await closing(bench, (scope) => measure(scope, filled, title, open))));
    }
    if (process.env.BENCH_PICTURE) await writeFile(PICTURE, drawCurves(curves));
  },
};

/** Closes what `work` opened before the benchmark goes on, so that idle services cost the next work nothing. */
async function closing<T>(bench: Bench, work: (scope: Bench) => Promise<T>): Promise<T> {
  const closers: (() => Promise<unknown>)[] = [];
  const scope: Bench = {
    rounds: bench.rounds,
    peers: bench.peers,
    progress: (text) => bench.progress(text),
    use: (opening, close) => {
      closers.push(() => opening.then(close, () => {}));
      return opening;
    },
    compare: (comparison: Comparison) => bench.compare(comparison),
    // What is sent stands with the benchmark of the same work.
    note: () => {},
    measuredOn: (facts) => bench.measuredOn(facts),
  };
  try {
    return await work(scope);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function measure(
  bench: Bench,
  filled: readonly Stand[],
  title: string,
  open: (bench: Bench, stand: Stand) => Promise<Pair>,
): Promise<ComparisonResult> {
  const pairs: Pair[] = [];
  for (const stand of filled) pairs.push(await open(bench, stand));
  const ours = pairs.map(([, contestant], at): Contestant => ({ ...contestant, name: named(SIZES[at]!) }));
  return bench.compare({
    title,
    unit: 'us/request',
    contestants: [pairs[0]![0], ...ours],
    warmUpRounds: 1,
    goals: ours.slice(1).map(({ name }) => ({ of: name, to: ours[0]!.name, atMost: RATIO_MAX })),
  });
}

function curveOf(title: string, { contestants: [floor, ...ours] }: ComparisonResult): Curve {
  return {
    title,
    floor: floor!.median,
    points: ours.map(({ median }, at) => ({ rows: SIZES[at]!, us: median })),
  };
}
