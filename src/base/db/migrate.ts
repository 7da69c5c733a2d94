/**
 * The migration runner: the numbered files of `migrations/`, forward only.
 *
 * Each runs in a transaction of its own together with the row that remembers it, under a lock that
 * makes two starters at once take turns. A file that was changed after it ran is refused.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Pool, Tx } from './pool.ts';

const FOLDER = new URL('../../../migrations/', import.meta.url);
/** Any fixed number will do, as long as nothing else locks it. */
const LOCK = 7_302_771_401;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** Bring the database up to date. Returns how many migrations were run. */
export async function migrate(pool: Pool): Promise<number> {
  const migrations = await readMigrations();
  const tx = await pool.connect();
  let broken: Error | undefined;
  try {
    // Waiting for another starter may take longer than a statement usually may.
    await tx.query('set statement_timeout = 0; set lock_timeout = 0');
    await tx.query('select pg_advisory_lock($1)', [LOCK]);
    return await runMissing(tx, migrations);
  } finally {
    // Ending the session gives the lock and the settings back, whatever happened in it.
    broken = new Error('migration session ended');
    tx.release(broken);
  }
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^[0-9]{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function runMissing(tx: Tx, migrations: readonly Migration[]): Promise<number> {
  await tx.query(`create table if not exists migrations (
    name text primary key, checksum text not null, run_at timestamptz not null default now())`);
  const { rows } = await tx.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations',
  );
  const done = new Map(rows.map((row) => [row.name, row.checksum]));

  let run = 0;
  for (const migration of migrations) {
    const checksum = done.get(migration.name);
    if (checksum === migration.checksum) continue;
    if (checksum !== undefined) throw new Error(`migration ${migration.name} was changed after it ran`);
    await runOne(tx, migration);
    run += 1;
  }
  return run;
}

async function runOne(tx: Tx, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await tx.query('begin');
    await tx.query(sql);
    await tx.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum]);
    await tx.query('commit');
  } catch (error) {
    // Where the connection is lost, so is the rollback; what matters is why.
    await tx.query('rollback').catch(() => {});
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}
