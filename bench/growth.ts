/** What the database keeps of each record and join: tables, indexes, WAL and backups. */
import { setTimeout as wait } from 'node:timers/promises';
import { createDeflate } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import { archive, fill, type Ids, openSide, type Side, settle } from './archive-filled.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { readWalBytes } from './costs.ts';
import { named } from './flat-ledger.ts';
import { minting, openMints } from './mint.ts';
import { onLongClient, openStand, type Stand } from './stand.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 1_000_000);
const JOINS = Number(process.env.BENCH_JOINS ?? 50_000);

export const growth: Benchmark = {
  name: 'growth',
  summary: `bytes of tables, indexes, WAL and backups for each record and join`,
  protocol: `Each step by itself: ${named(RECORDS)} usage records in batches of 500, which are then archived, and ${named(JOINS)} joins of users who were
    never there, with the events and sessions that follow. Bytes are by how much all tables, all indexes, the log of PostgreSQL and a compressed dump have grown, divided by what was
    done. Tables that records have left are written anew before they are counted. The log has whole pages after checkpoints.`,
  isByNameOnly: true,
  async run(bench) {
    const stand = await openStand(bench);
    for (const ids of ['ordered ids', 'UUIDs'] as const) await growByRecords(bench, stand, ids);
    await growByJoins(bench, stand);
  },
};

interface Sizes {
  readonly tables: number;
  readonly indexes: number;
  readonly wal: number;
  readonly backup: number;
}

const TABLES = `pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;

async function measureSizes(stand: Stand): Promise<Sizes> {
  const { rows } = await stand.db.query<Omit<Sizes, 'backup'>>(
    `select sum(pg_table_size(oid))::float8 as tables, sum(pg_indexes_size(oid))::float8 as indexes,
            (pg_current_wal_insert_lsn() - '0/0')::float8 as wal from ${TABLES}`,
  );
  return { ...rows[0]!, backup: await measureBackup(stand) };
}

/** As `pg_dump --format=custom` writes it: rows as `COPY` prints them, compressed. No pg_dump of the server's version is needed. */
async function measureBackup(stand: Stand): Promise<number> {
  return onLongClient(stand, async (client) => {
    const { rows } = await client.query<{ name: string }>(`select relname as name from ${TABLES}`);
    let bytes = 0;
    for (const { name } of rows) {
      const packed = client.query(copyTo(`copy ${name} to stdout`)).pipe(createDeflate());
      for await (const piece of packed) bytes += piece.length;
    }
    return bytes;
  });
}

/** `since`: what the bytes are counted from, if not from before the work. Returns what there was before it. */
async function grow(
  bench: Bench,
  stand: Stand,
  what: string,
  { count, since }: { readonly count: number; readonly since?: Sizes },
  work: () => Promise<unknown>,
): Promise<Sizes> {
  const before = await measureSizes(stand);
  await work();
  const after = await measureSizes(stand);
  const from = { ...(since ?? before), wal: before.wal };
  for (const part of ['tables', 'indexes', 'wal', 'backup'] as const) {
    bench.note(`${what}: ${part}`, (after[part] - from[part]) / count, 'B');
  }
  return before;
}

async function growByRecords(bench: Bench, stand: Stand, ids: Ids): Promise<void> {
  const name = `records_${ids === 'UUIDs' ? 'uuids' : 'ordered'}`;
  const side: Side = await openSide(bench, stand, name, ids);
  await fill(bench, side, 500, 500);
  await settle(side);
  const since = await grow(bench, side.stand, `a record, ${ids}`, { count: RECORDS }, async () => {
    await fill(bench, side, RECORDS, 500);
    await settle(side);
  });
  await noteFreeze(bench, side.stand, ids);
  bench.progress(`archiving, ${ids}`);
  await grow(bench, side.stand, `a record that is archived, ${ids}`, { count: RECORDS, since }, async () => {
    await archive(side);
    await onLongClient(side.stand, (client) => client.query('vacuum full usage_records, known_id_pages'));
  });
}

/** What PostgreSQL does to all rows once in so many transactions, here at once and with nothing beside it. */
async function noteFreeze(bench: Bench, stand: Stand, ids: Ids): Promise<void> {
  const wal = await readWalBytes(stand);
  const begun = performance.now();
  await onLongClient(stand, (client) => client.query('vacuum (freeze) usage_records'));
  bench.note(`freezing a record, ${ids}`, (1000 * (performance.now() - begun)) / RECORDS, 'us');
  bench.note(`freezing a record, ${ids}: wal`, ((await readWalBytes(stand)) - wal) / RECORDS, 'B');
}

async function growByJoins(bench: Bench, stand: Stand): Promise<void> {
  const { newcomers } = await openMints(bench, stand);
  const users = await minting(bench, newcomers, 32, { warmUp: JOINS, seconds: 0 });
  const doing = { count: JOINS };
  await grow(bench, stand, 'a join of a newcomer, with its event and session', doing, async () => {
    bench.progress('joining');
    await users.warmUp!();
    await untilCount(stand, 'sessions', JOINS);
  });
}

async function untilCount({ db }: Stand, table: string, count: number): Promise<void> {
  const find = () => db.query<{ rows: number }>(`select count(*)::integer as rows from ${table}`);
  while ((await find()).rows[0]!.rows < count) await wait(500);
}
