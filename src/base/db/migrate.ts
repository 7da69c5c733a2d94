/**
 * The migration runner: the numbered files of `migrations/`, forward only.
 *
 * Each file runs in its own transaction together with the row that records it. A lock serializes
 * processes that start at once. A file that was changed after it ran is refused.
 *
 * Where tables are distributed, the file of the same name in `migrations/distributed/` runs in its place, if there is one: it
 * leads to the same tables by statements that Citus takes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { isDistributed } from './distribution.ts';
import { type Db, onLongConnection, type Pool } from './pool.ts';

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);
/** Any fixed number that nothing else locks. */
const LOCK = 7_302_771_401;

export interface Migrating {
  /** The role that the service runs as, which gets its rights here. */
  readonly application?: string | undefined;
  /** Called before each file that runs. */
  readonly beforeEach?: () => Promise<void>;
  readonly folder?: URL;
}

interface Migration {
  readonly name: string;
  /** What runs. */
  readonly sql: string;
  /** That of the file for one server, in any case. */
  readonly checksum: string;
}

/**
 * Bring the database up to date, as the owner of its tables. Returns how many migrations ran.
 *
 * Another role may call it on a database that is up to date.
 */
export async function migrate(
  pool: Pool,
  { application, beforeEach = async () => {}, folder = MIGRATIONS }: Migrating = {},
): Promise<number> {
  const migrations = await readMigrations(folder);
  return onLongConnection(pool, async (client) => {
    // Changes of tables that refer to one another go over one connection to each worker.
    if (isDistributed()) await client.query(`set citus.multi_shard_modify_mode = 'sequential'`);
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const run = await runMissing(client, migrations, beforeEach);
    if (application !== undefined) {
      await client.query('select grant_application_rights($1, reads_archive => true)', [application]);
    }
    return run;
  });
}

/** Those of this version, even if the files are those of another one by now. */
let ownMigrations: Promise<readonly Migration[]> | undefined;

/** In one line, why the database is not of this version; `undefined`: it is. */
export async function findStaleMigration(db: Db): Promise<string | undefined> {
  ownMigrations ??= readMigrations(MIGRATIONS);
  const own = new Map((await ownMigrations).map(({ name, checksum }) => [name, checksum]));
  const { rows } = await db.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations',
  );
  const done = new Map(rows.map((row) => [row.name, row.checksum]));
  const unknown = rows.find(({ name, checksum }) => own.get(name) !== checksum);
  if (unknown) return `the database is of another version: it has the migration ${unknown.name}`;
  const missing = [...own.keys()].find((name) => !done.has(name));
  return missing && `the database is of an older version: start the service once, for migration ${missing}`;
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const distributed = new URL('distributed/', folder);
  const names = await namesIn(folder);
  const others = isDistributed() && existsSync(distributed) ? await namesIn(distributed) : [];
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      if (!others.includes(name)) return { name, sql, checksum };
      return { name, sql: await readFile(new URL(name, distributed), 'utf8'), checksum };
    }),
  );
}

async function namesIn(folder: URL): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^[0-9]{4}_\w+\.sql$/.test(name)).sort();
}

async function runMissing(
  client: pg.Client,
  migrations: readonly Migration[],
  beforeEach: () => Promise<void>,
): Promise<number> {
  const { rows: found } = await client.query(`select to_regclass('migrations') is not null as exists`);
  if (!found[0].exists) {
    await client.query(`create table migrations (
      name text primary key, checksum text not null, run_at timestamptz not null default now())`);
  }
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations',
  );
  const done = new Map(rows.map((row) => [row.name, row.checksum]));

  let run = 0;
  for (const migration of migrations) {
    const checksum = done.get(migration.name);
    if (checksum === migration.checksum) continue;
    if (checksum !== undefined) throw new Error(`migration ${migration.name} was changed after it ran`);
    await beforeEach();
    await runOne(client, migration);
    run += 1;
  }
  return run;
}

/**
 * The file is the body of a block, so PostgreSQL runs each statement by itself. Citus hands the text of a statement on to
 * the workers; of a file that is sent as it is, that would be the whole file.
 */
async function runOne(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(`do $migration$ begin ${sql}\nend $migration$`);
    await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum]);
    await client.query('commit');
  } catch (error) {
    // If the connection is lost, the rollback fails too. Report the first error.
    await client.query('rollback').catch(() => {});
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
