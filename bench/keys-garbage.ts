/** Garbage keys, and how many of them reach the database. */
import pg from 'pg';
import { newKey } from '../src/access/keys/api-key.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { requestBytes, runLoad } from './load.ts';
import { openProcess, openStand, type Stand } from './stand.ts';

const REQUESTS = 200_000;
const CONNECTIONS = 32;
const DIFFERENT_KEYS = 5_000;
/** Every key of the right form is looked up; those that arrive together share a statement. */
const KEYS_PER_STATEMENT_MIN = 5;
/** PostgreSQL's own housekeeping transactions while one kind of garbage is sent. */
const HOUSEKEEPING_MAX = 5;

interface Garbage {
  readonly name: string;
  readonly key: (index: number) => string;
  readonly statuses: readonly number[];
  /** Excludes PostgreSQL's own transactions. */
  readonly transactionsMax: number;
}

const GARBAGE: readonly Garbage[] = [
  {
    name: 'malformed keys',
    key: (index) => `svc_${index.toString(36)}_${'x'.repeat(index % 60)}`,
    statuses: [401],
    transactionsMax: 0,
  },
  {
    name: 'keys with a wrong prefix',
    key: () => newKey('other').plaintext,
    statuses: [401],
    transactionsMax: 0,
  },
  {
    name: 'unknown keys of the right form',
    key: () => newKey('svc').plaintext,
    statuses: [401, 429],
    transactionsMax: REQUESTS / KEYS_PER_STATEMENT_MIN,
  },
];

export const keysGarbage: Benchmark = {
  name: 'keys-garbage',
  minutes: 1,
  summary: 'garbage keys, and how few of them the database hears of',
  protocol: `${CONNECTIONS} connections from one address send ${REQUESTS} requests with ${DIFFERENT_KEYS} different
    garbage keys to the route of keys-route, a new process for each kind of garbage. The results are answers
    (401, or 429 once the address has used up its wrong keys) per second, and the transactions of the
    database from before the process starts until it has ended; each statement is one, opening a
    connection may be one, and PostgreSQL's own housekeeping adds one or two. There is one round. A key of the right form is always looked up, since
    it may be a correct one; look-ups that arrive together share a statement.`,
  async run(bench) {
    const stand = await openStand(bench);
    for (const garbage of GARBAGE) await send(bench, stand, garbage);
  },
};

async function send(bench: Bench, stand: Stand, garbage: Garbage): Promise<void> {
  const before = await countTransactions(stand);
  const keyed = await openProcess(bench, stand, './keyed-route.ts');
  bench.progress(garbage.name);
  const requests = Array.from({ length: DIFFERENT_KEYS }, (_, index) =>
    requestBytes('GET', `${keyed.url}/who`, { token: garbage.key(index) }),
  );
  const { rate } = await runLoad({
    urls: [keyed.url],
    connections: CONNECTIONS,
    request: (index) => requests[index % DIFFERENT_KEYS]!,
    until: { requests: REQUESTS },
    statuses: garbage.statuses,
  });
  await keyed.stop();
  const transactions = (await countTransactions(stand)) - before;
  bench.note(garbage.name, rate, 'requests/s');
  bench.note(`transactions for ${REQUESTS} ${garbage.name}`, transactions, 'transactions', {
    atMost: garbage.transactionsMax + HOUSEKEEPING_MAX,
  });
}

/**
 * The number of transactions in the benchmark's database so far.
 *
 * A connection reports its statistics when it ends at the latest, so this runs after all have ended.
 * It runs in another database, so that the query itself does not count.
 */
async function countTransactions(stand: Stand): Promise<number> {
  const url = new URL(stand.databaseUrl);
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client(url.href);
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ open: boolean; transactions: string }>(
        `select xact_commit + xact_rollback as transactions,
                exists (select from pg_stat_activity
                         where datname = $1 and application_name = 'boxoffice') as open
           from pg_stat_database where datname = $1`,
        [database],
      );
      const { open, transactions } = rows[0]!;
      if (!open) return Number(transactions);
    }
  } finally {
    await client.end();
  }
}
