/** Kills a service while it charges, resends everything, and checks the result. */
import type { Db, Pool } from '../src/base/db/pool.ts';
import { withSnapshot } from '../src/base/db/snapshot.ts';
import { compareRecords } from '../src/money/verification/compare-records.ts';
import { compareBalances, compareChains } from '../src/money/verification/verify.sql.ts';
import type { Bench } from './benchmark.ts';
import { type LoadResult, runLoad } from './load.ts';
import { type BenchProcess, openProcess, type Stand } from './stand.ts';
import { makeRows, parseCharged, type UsageRow, usageRequest } from './usage-records.ts';

const TENANTS = 4;
const CLIENTS = 8;
const BATCH = 1_000;
const BATCHES = 24;
const ANSWERS_BEFORE = 8;
/** Used by no other case. */
const RELAY = 100;

export interface Charger {
  readonly name: string;
  /** The program, as `openProcess` takes it. */
  readonly file: string;
  /** Its tables of records, with their amounts, and of balances. */
  readonly records: string;
  readonly accounts: string;
  makeBenchTenant(): Promise<ChargedTenant>;
}

interface ChargedTenant {
  readonly tenant: bigint;
  readonly key: string;
}

/** Throws unless every record was charged once and the totals match. */
export async function crashCase(bench: Bench, stand: Stand, charger: Charger): Promise<void> {
  const { name, file } = charger;
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => charger.makeBenchTenant()));
  const batches = Array.from({ length: BATCHES }, (_, index) => makeRows(RELAY, index * BATCH, BATCH));

  const first = await openProcess(bench, stand, file);
  bench.progress(`F: killing ${name}`);
  await sendUntilKilled(first, batches, tenants);

  const killed = performance.now();
  const second = await openProcess(bench, stand, file);
  let answered: number | undefined;
  let duplicates = 0;
  await send(second, batches, tenants, (body) => {
    answered ??= performance.now();
    duplicates += parseCharged(body).duplicates;
  });
  const done = performance.now();
  await check(stand.db, charger, tenants, batches);
  bench.note(`F, ${name}: from SIGKILL to the next answer`, (answered! - killed) / 1000, 's');
  bench.note(`F, ${name}: from SIGKILL until all was sent again`, (done - killed) / 1000, 's');
  bench.note(`F, ${name}: charged before SIGKILL`, duplicates, 'records');
  bench.note(`F, ${name}: each charged once in the end`, BATCHES * BATCH, 'records');
}

async function sendUntilKilled(
  process: BenchProcess,
  batches: readonly UsageRow[][],
  tenants: readonly ChargedTenant[],
): Promise<void> {
  let answers = 0;
  let killing: Promise<void> | undefined;
  const sending = send(process, batches, tenants, () => {
    answers += 1;
    if (answers === ANSWERS_BEFORE) killing = process.kill();
  });
  await sending.then(
    () => {
      throw new Error('everything was charged before SIGKILL');
    },
    (error) => {
      if (!killing) throw error;
    },
  );
  await killing;
}

function send(
  { url }: BenchProcess,
  batches: readonly UsageRow[][],
  tenants: readonly ChargedTenant[],
  onAnswer: (body: string) => void,
): Promise<LoadResult> {
  const requests = batches.map((rows, index) => usageRequest(url, tenants[index % TENANTS]!.key, rows));
  return runLoad({
    urls: [url],
    connections: CLIENTS,
    request: (index) => requests[index]!,
    until: { requests: requests.length },
    statuses: [200],
    isRight: (body) => {
      onAnswer(body);
      return true;
    },
  });
}

interface Sums {
  readonly records: bigint;
  /** The records whose ids were sent. */
  readonly sent: bigint;
  /** Micros. */
  readonly charged: bigint;
  readonly spent: bigint;
}

async function check(
  db: Db,
  { name, records, accounts }: Charger,
  tenants: readonly ChargedTenant[],
  batches: readonly UsageRow[][],
): Promise<void> {
  const { rows } = await db.query<Sums>(
    `select count(*) as records, count(*) filter (where id = any($2)) as sent, sum(amount)::bigint as charged,
            (select -sum(balance)::bigint from ${accounts} where tenant_id = any($1)) as spent
       from ${records} where tenant_id = any($1)`,
    [tenants.map(({ tenant }) => tenant), batches.flat().map(({ id }) => id)],
  );
  const sums = rows[0]!;
  const expected = BigInt(BATCHES * BATCH);
  if (sums.records !== expected || sums.sent !== expected) {
    throw new Error(
      `${name} has charged ${sums.records} records, ${sums.sent} of the ${expected} that were sent`,
    );
  }
  if (sums.charged !== sums.spent) {
    throw new Error(`${name}: records come to ${sums.charged} micros, balances have lost ${sums.spent}`);
  }
}

/** Throws unless the service's ledger is consistent, for all tenants. */
export async function checkLedger(db: Pool): Promise<void> {
  const [difference] = await withSnapshot(db, async (snapshot) => [
    ...(await compareBalances(snapshot)),
    ...(await compareChains(snapshot)),
    ...(await compareRecords(snapshot)).flat(),
  ]);
  if (!difference) return;
  const { tenant, what, expected, found } = difference;
  throw new Error(`the ledger of tenant ${tenant}: ${what} is ${found} instead of ${expected}`);
}
