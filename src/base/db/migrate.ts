/**
 * The migration runner: the numbered files of `migrations/`, forward only.
 *
 * A lock serializes processes that start at once. A file that was changed after it ran is refused.
 *
 * Where tables are distributed, the file of the same name in `migrations/distributed/` runs in its place, if there is one: it
 * leads to the same tables by statements that Citus takes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { orStartError, StartError } from '../lib/start-error.ts';
import { isDistributed } from './distribution.ts';
import { type Migration, neededBy } from './migration.ts';
import { type Db, onLongConnection, type Pool } from './pool.ts';
import { runWhenFree } from './run-migration.ts';

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);
/** Held by the process that migrates. Any fixed number that nothing else locks. */
export const MIGRATION_LOCK = 7_302_771_401n;
const MIGRATION_LOCK_PAUSE_MS = 100;

export interface Migrating {
  /** The role that the service runs as, which gets its rights here. */
  readonly application?: string | undefined;
  /** Called before each file that runs. */
  readonly beforeEach?: () => Promise<void>;
  readonly folder?: URL;
  readonly log?: Pick<Logger, 'warn'> | undefined;
}

/**
 * Bring the database up to date, as the owner of its tables. Returns how many migrations ran. Fails with `StartError` if one of them
 * fails, or if a newer version has taken away what this one uses.
 *
 * Another role may call it on a database that is up to date.
 */
export async function migrate(
  pool: Pool,
  { application, beforeEach = async () => {}, folder = MIGRATIONS, log }: Migrating = {},
): Promise<number> {
  const migrations = await readMigrations(folder);
  return onLongConnection(pool, async (client) => {
    // Changes of tables that refer to one another go over one connection to each worker.
    if (isDistributed()) await client.query(`set citus.multi_shard_modify_mode = 'sequential'`);
    await takeTurn(client);
    const missing = await findMissing(client, migrations, log);
    for (const migration of missing) {
      await beforeEach();
      await runWhenFree(client, migration, log);
    }
    if (application !== undefined) {
      await orStartError(
        () => client.query('select grant_application_rights($1, reads_archive => true)', [application]),
        'the role of DATABASE_URL cannot be given its rights',
      );
    }
    return missing.length;
  });
}

/** A statement that waits for the lock would hold up an index that is created meanwhile, so it asks again and again. */
async function takeTurn(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [MIGRATION_LOCK]);
    if (rows[0].locked) return;
    await sleep(MIGRATION_LOCK_PAUSE_MS);
  }
}

/** Why a database is not of this version, in one line. */
export interface Stale {
  readonly why: string;
  /** A newer version has updated it, and this one may serve beside that. */
  readonly isNewer: boolean;
}

/** Those of this version, even if the files are those of another one by now. */
let ownMigrations: Promise<readonly Migration[]> | undefined;

/** `undefined`: the database is of this version. */
export async function findStaleMigration(db: Db): Promise<Stale | undefined> {
  ownMigrations ??= readMigrations(MIGRATIONS);
  const own = new Map((await ownMigrations).map(({ name, checksum }) => [name, checksum]));
  const done = await findDone(db);
  const missing = [...own.keys()].find((name) => !done.has(name));
  const other = [...done].find(([name, checksum]) => own.get(name) !== checksum)?.[0];
  if (other !== undefined) {
    const isNewer = missing === undefined && !own.has(other);
    const version = isNewer ? 'a newer version' : 'another version';
    return { why: `the database is of ${version}: it has the migration ${other}`, isNewer };
  }
  if (missing === undefined) return undefined;
  const why = `the database is of an older version: start the service once, for migration ${missing}`;
  return { why, isNewer: false };
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

/** The checksums of those that ran, by their names, in order. */
async function findDone(db: Db): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations order by name',
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

async function findMissing(
  client: pg.Client,
  migrations: readonly Migration[],
  log: Migrating['log'],
): Promise<readonly Migration[]> {
  const { rows: found } = await client.query(`select to_regclass('migrations') is not null as exists`);
  if (!found[0].exists) {
    await client.query(`create table migrations (
      name text primary key, checksum text not null, run_at timestamptz not null default now())`);
  }
  const done = await findDone(client);
  const changed = migrations.find(({ name, checksum }) => (done.get(name) ?? checksum) !== checksum);
  if (changed) throw new StartError(`migration ${changed.name} was changed after it ran`);
  const own = new Set(migrations.map(({ name }) => name));
  const unknown = [...done.keys()].filter((name) => !own.has(name));
  checkNewer(unknown, migrations.at(-1)?.name ?? '', log);
  return migrations.filter(({ name }) => !done.has(name));
}

/** `unknown`: those that ran and that this version does not have. `newest`: the newest one that it has. */
function checkNewer(unknown: readonly string[], newest: string, log: Migrating['log']): void {
  const refusing = unknown.find((name) => (neededBy(name) ?? '') > newest);
  if (refusing !== undefined) {
    throw new StartError(
      `migration ${refusing} of a newer version has taken away what this version uses: start the newer one`,
    );
  }
  const last = unknown.at(-1);
  if (last !== undefined) log?.warn({ migration: last }, 'a newer version has updated the database');
}
