/** Migrations one by one, for tests of a migration on a database with data. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pool } from '../../src/base/db/pool.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

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
