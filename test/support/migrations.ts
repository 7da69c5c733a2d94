/** Migrations one by one, for tests of a migration on a database with data. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pool } from '../../src/base/db/pool.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

const TABLES = `
  select attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull || ' '
           || coalesce(pg_get_expr(adbin, adrelid), '') as line
    from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
   union all
  select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
   union all
  select indexdef from pg_indexes where schemaname = 'public' order by 1`;

/** A line for each column, constraint and index. */
export async function listTables(pool: Pool): Promise<string[]> {
  return (await pool.query<{ line: string }>(TABLES)).rows.map(({ line }) => line);
}

/** The names of all migrations, in order. */
export async function migrationNames(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
}

export function readMigration(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8');
}

/** Do the work with a folder of these migrations, which is removed afterwards. Names may have a folder. */
export async function withMigrations<T>(
  files: Readonly<Record<string, string>>,
  work: (folder: URL) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-migrations-'));
  try {
    for (const [name, sql] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), sql);
    }
    return await work(pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function checksum(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** Run every migration before this one, and record them as `migrate` does. */
export async function migrateBefore(pool: Pool, name: string): Promise<void> {
  await pool.query(`create table migrations (
    name text primary key, checksum text not null, run_at timestamptz not null default now())`);
  for (const earlier of (await migrationNames()).filter((each) => each < name)) {
    const sql = await readMigration(earlier);
    await pool.query(sql);
    await pool.query('insert into migrations (name, checksum) values ($1, $2)', [earlier, checksum(sql)]);
  }
}
