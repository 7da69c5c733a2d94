/** `migrations/distributed/`: what runs in place of a migration where tables are distributed leads to the same tables. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, inject, test } from 'vitest';
import { migrate } from '../../../src/base/db/migrate.ts';
import { PLACEMENTS } from '../../../src/run/distribution/placements.ts';
import { useDatabase } from '../../support/database.ts';
import { listTables, migrationNames, readMigration, withMigrations } from '../../support/migrations.ts';

const FOLDER = new URL('../../../migrations/distributed/', import.meta.url);
/** Databases were distributed before, and have run these files. */
const FIRST_CHECKED = '0067_kept_forms.sql';
const names = readdirSync(FOLDER).sort();
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');

/** Both are on one server. One runs the files for it, the other one those for a cluster. */
const usual = useDatabase({ empty: true });
const other = useDatabase({ empty: true });

test.skipIf(inject('citusServers').length > 0)('both leave the same tables, keys and indexes', async () => {
  const files: Record<string, string> = {};
  for (const name of await migrationNames()) files[name] = await readMigration(name);
  await withMigrations(files, (folder) => migrate(usual.pool, { folder }));
  for (const name of names) files[name] = read(name);
  await withMigrations(files, (folder) => migrate(other.pool, { folder }));
  expect(await listTables(other.pool)).toEqual(await listTables(usual.pool));
});

let migrations: readonly string[];
beforeAll(async () => {
  migrations = (await migrationNames()).filter((name) => name > FIRST_CHECKED);
});

test('each is that of a migration', () => {
  expect(names.filter((name) => !migrations.includes(name))).toEqual([]);
});

test('none adds a column with a check to a distributed table, which Citus refuses', async () => {
  const refused: string[] = [];
  for (const name of migrations) {
    const sql = (names.includes(name) ? read(name) : await readMigration(name)).replaceAll(/--.*/g, '');
    for (const [, table, actions] of sql.matchAll(/alter table (\w+)([^;]*)/g)) {
      const isAdded = /add column[^;]*\b(check|references|unique|primary key)\b/.test(actions!);
      if (isAdded && PLACEMENTS.get(table!) !== 'coordinator') refused.push(`${name}: ${table}`);
    }
  }
  expect(refused).toEqual([]);
});
