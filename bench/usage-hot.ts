/** A tenant whose relays report large batches without pause, and what other tenants notice of it. */
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Turns } from '../src/base/lib/turns.ts';
import { readPlainUsage, readPlainUsageInSlices } from '../src/doors/rest/usage-body.ts';
import type { Bench, Benchmark, Contestant, Sample } from './benchmark.ts';
import { type LoadResult, runLoad } from './load.ts';
import { type BenchProcess, makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';
import { median, percentile } from './statistics.ts';
import { BARE_TABLE, copyText, makeRows, parseCharged, usageRequest } from './usage-records.ts';

const RELAYS = 16;
const BATCH = 5_000;
/** Batches of each relay per round, where all are counted. */
const BATCHES = 4;
const OTHERS = 8;
const SMALL_BATCH = 10;
/** Requests a second of all others together. */
const PACE = 80;
const SECONDS = 5;

const FLOOR = 'raw COPY';
const OURS = 'one tenant';
const ALONE = 'the others alone';
const SPREAD = 'beside 16 tenants';
const HOT = 'beside a hot tenant';

export const usageHot: Benchmark = {
  name: 'usage-hot',
  summary: `a tenant with ${RELAYS} relays that send batches of ${BATCH} without pause: its own ceiling, and the p99 of others`,
  protocol: `${RELAYS} relays of one tenant send batches of ${BATCH} new records to POST /v1/usage, each after the answer to
    the one before. First without others, ${BATCHES} batches each a round; the floor is a raw COPY of the same rows into a
    bare table with one unique index, by one connection, since the batches of a tenant are serial. Then beside ${OTHERS}
    relays of ${OTHERS} other tenants, which together report ${PACE} batches of ${SMALL_BATCH} a second, at even intervals, for
    ${SECONDS} s a round; their latency is measured from the time a request was due. It is compared with the same traffic of
    the others alone (the floor), and beside ${RELAYS} relays of ${RELAYS} tenants that report the same batches, together as many a
    second as the hot tenant charged in its latest round. So both sides charge the same number of records, in
    requests of the same size. The ids of the large batches are overwritten in place, so that the load generator does
    not stall. The delay of the service's event loop is sampled every millisecond. Last, ${RELAYS} bodies are read that
    arrive together: the result is the CPU time of the reading in a turn of the event loop, on average.`,
  async run(bench) {
    const stand = await openStand(bench);
    await stand.db.query(BARE_TABLE);
    const service = await openProcess(bench, stand, './service.ts');
    const makeKeys = (count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await makeBenchTenant(stand, 'relay')).key));
    const hot = new LargeRelays(service.url, 0, await makeKeys(1));
    await compareCeiling(bench, await openFloor(bench, stand), hot);
    const spread = new LargeRelays(service.url, RELAYS, await makeKeys(RELAYS));
    await compareOthers(bench, service, new SmallRelays(service.url, await makeKeys(OTHERS)), hot, spread);
    await compareReading(bench);
  },
};

async function openFloor(bench: Bench, stand: Stand): Promise<pg.Client> {
  const client = new pg.Client(stand.databaseUrl);
  await bench.use(client.connect(), () => client.end());
  return client;
}

function compareCeiling(bench: Bench, client: pg.Client, hot: LargeRelays): Promise<unknown> {
  const count = RELAYS * BATCHES;
  const copying: Contestant = {
    name: FLOOR,
    role: 'floor',
    round: async (round) => {
      const texts = Array.from({ length: count }, (_, index) =>
        copyText(0n, round, makeRows(0, (round * count + index) * BATCH, BATCH)),
      );
      const start = performance.now();
      for (const text of texts) await pipeline([text], client.query(copyFrom('copy bare from stdin')));
      return { value: (count * BATCH) / ((performance.now() - start) / 1000) };
    },
  };
  const charging: Contestant = {
    name: OURS,
    role: 'ours',
    round: async () => {
      const { rate, latencies } = await hot.send({ requestsEach: BATCHES });
      return { value: rate * BATCH, latencies };
    },
  };
  return bench.compare({
    title: `the ceiling of a tenant with ${RELAYS} relays`,
    unit: 'records/s',
    contestants: [copying, charging],
  });
}

async function compareOthers(
  bench: Bench,
  service: BenchProcess,
  others: SmallRelays,
  hot: LargeRelays,
  spread: LargeRelays,
): Promise<void> {
  let pace = 1;
  const delays = new Map<string, number[]>();
  const rates = new Map<string, number[]>();
  const contestant = (
    name: string,
    role: Contestant['role'],
    sendLarge?: () => Promise<LoadResult>,
  ): Contestant => ({
    name,
    role,
    round: async () => {
      await service.eventLoopDelayMs();
      const [small, large] = await Promise.all([others.send(), sendLarge?.()]);
      keep(delays, name, await service.eventLoopDelayMs());
      if (large) keep(rates, name, large.rate * BATCH);
      return { value: percentile(Float64Array.from(small.latencies).sort(), 99), latencies: small.latencies };
    },
  });
  await bench.compare({
    title: `p99 of ${OTHERS} other tenants`,
    unit: 'ms',
    contestants: [
      contestant(ALONE, 'floor'),
      contestant(HOT, 'ours', async () => {
        const result = await hot.send({ seconds: SECONDS });
        pace = result.rate;
        return result;
      }),
      contestant(SPREAD, 'peer', () => spread.send({ seconds: SECONDS }, pace)),
    ],
    goals: [{ of: HOT, to: SPREAD, atMost: 1.5 }],
  });
  for (const [name, values] of delays) bench.note(`event loop delay, p99, ${name}`, median(values), 'ms');
  for (const [name, values] of rates) bench.note(`large batches, ${name}`, median(values), 'records/s');
}

/** In CPU time, which other work on the machine hardly changes. The clock is too coarse for a single turn. */
function compareReading(bench: Bench): Promise<unknown> {
  const request = usageRequest('http://127.0.0.1', undefined, makeRows(0, 0, BATCH));
  const body = request.subarray(request.indexOf('\r\n\r\n') + 4);
  const bodies = Array<Buffer>(RELAYS).fill(body);
  const perTurn = async (read: () => unknown): Promise<Sample> => {
    const before = process.threadCpuUsage();
    let isRead = false;
    const reading = Promise.resolve(read()).then(() => {
      isRead = true;
    });
    let turns = 0;
    do {
      await turn();
      turns += 1;
    } while (!isRead);
    await reading;
    const { user, system } = process.threadCpuUsage(before);
    return { value: (user + system) / 1000 / turns };
  };
  const readAtOnce = () => bodies.map((each) => readPlainUsage(each, ''));
  const readInSlices = () => {
    const turns = new Turns<number>();
    return Promise.all(bodies.map((each) => turns.run(0, readPlainUsageInSlices(each, ''))));
  };
  return bench.compare({
    title: `reading ${RELAYS} bodies of ${BATCH}: CPU time a turn of the event loop`,
    unit: 'ms',
    warmUpRounds: 3,
    contestants: [
      { name: 'at once', role: 'floor', round: () => perTurn(readAtOnce) },
      { name: 'in slices', role: 'ours', round: () => perTurn(readInSlices) },
    ],
  });
}

function keep(kept: Map<string, number[]>, name: string, value: number): void {
  kept.set(name, [...(kept.get(name) ?? []), value]);
}

/** Relays that send large batches. */
class LargeRelays {
  readonly #url: string;
  readonly #batches: readonly LargeBatch[];

  /** The relays use the keys in turns. Their numbers begin with `first`. */
  constructor(url: string, first: number, keys: readonly string[]) {
    this.#url = url;
    this.#batches = Array.from(
      { length: RELAYS },
      (_, index) => new LargeBatch(url, keys[index % keys.length]!, first + index),
    );
  }

  send(
    until: { readonly seconds: number } | { readonly requestsEach: number },
    pace?: number,
  ): Promise<LoadResult> {
    return runLoad({
      urls: [this.#url],
      connections: RELAYS,
      request: (_, relay) => this.#batches[relay]!.next(),
      until,
      ...(pace !== undefined && { pace }),
      statuses: [200],
      isRight: (body) => parseCharged(body).charged === BATCH,
    });
  }
}

/** The batches of one relay, one after the other, in the same bytes. */
class LargeBatch {
  readonly #request: Buffer;
  /** The place of the intervals in the ids, which `makeRows` writes as `.i` and six digits. */
  readonly #places: readonly number[];
  readonly #intervals: number;
  #sent = 0;

  constructor(url: string, key: string, relay: number) {
    this.#request = usageRequest(url, key, makeRows(relay, 0, BATCH));
    const places: number[] = [];
    const mark = '.i';
    let at = this.#request.indexOf('"records"');
    for (at = this.#request.indexOf(mark, at); at >= 0; at = this.#request.indexOf(mark, at + 1)) {
      places.push(at + mark.length);
    }
    this.#places = places;
    this.#intervals = 1 + Number(this.#request.toString('latin1', places.at(-1)!, places.at(-1)! + 6));
  }

  /** The next batch. Overwrites the one before. */
  next(): Buffer {
    const perInterval = BATCH / this.#intervals;
    for (const [index, place] of this.#places.entries()) {
      let interval = this.#sent * this.#intervals + Math.floor(index / perInterval);
      for (let at = place + 5; at >= place; at -= 1) {
        this.#request[at] = 0x30 + (interval % 10);
        interval = Math.floor(interval / 10);
      }
    }
    this.#sent += 1;
    return this.#request;
  }
}

/** Relays that report a few records at a time, each for a tenant of its own. */
class SmallRelays {
  readonly #url: string;
  readonly #keys: readonly string[];
  readonly #sent: number[] = Array(OTHERS).fill(0);

  constructor(url: string, keys: readonly string[]) {
    this.#url = url;
    this.#keys = keys;
  }

  send(): Promise<LoadResult> {
    return runLoad({
      urls: [this.#url],
      connections: OTHERS,
      pace: PACE,
      request: (_, relay) => {
        const rows = makeRows(2 * RELAYS + relay, this.#sent[relay]!, SMALL_BATCH);
        this.#sent[relay]! += SMALL_BATCH;
        return usageRequest(this.#url, this.#keys[relay]!, rows);
      },
      until: { seconds: SECONDS },
      statuses: [200],
      isRight: (body) => parseCharged(body).charged === SMALL_BATCH,
    });
  }
}
