/** 0064_cheaper_checks.sql: the checks allow what they allowed before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0064_cheaper_checks.sql';
const database = useDatabase({ empty: true });

const HEX = '0123456789abcdef'.repeat(3);
const CHECKS = [
  ['rooms_name_check', 'name', ['Room.1-a_b', '9', 'a'.repeat(128)]],
  ['sessions_id_check', 'id', [`se_${HEX.slice(0, 32)}`, `se_${'f'.repeat(32)}`]],
  ['events_type', 'type', ['room_created', 'a', `b${'_'.repeat(62)}`]],
  ['unnumbered_events_type', 'type', ['room_created', 'a', `b${'_'.repeat(62)}`]],
] as const;
const CHARACTERS = ['', 'a', 'f', 'g', 'Z', '0', '_', '-', '.', ' ', '\n', 'é', '𝒶', "'"];

let before: Map<string, string>;
let after: Map<string, string>;

async function conditions(): Promise<Map<string, string>> {
  const { rows } = await database.pool.query<{ name: string; condition: string }>(
    `select conname as name, pg_get_expr(conbin, conrelid) as condition from pg_constraint where conname = any($1)`,
    [CHECKS.map(([name]) => name)],
  );
  return new Map(rows.map(({ name, condition }) => [name, condition]));
}

beforeAll(async () => {
  await migrateBefore(database.pool, NAME);
  before = await conditions();
  await database.pool.query(await readMigration(NAME));
  after = await conditions();
});

/** The text with each of the characters before, in place of, and after each of its own. */
function variantsOf(text: string): string[] {
  return Array.from({ length: text.length + 1 }, (_, at) => at).flatMap((at) =>
    CHARACTERS.flatMap((character) => [
      text.slice(0, at) + character + text.slice(at),
      text.slice(0, at) + character + text.slice(at + 1),
    ]),
  );
}

test.each(CHECKS)('%s', async (name, column, allowed) => {
  expect(after.get(name)).not.toBe(before.get(name));
  const values = ['', ...allowed.flatMap(variantsOf)];
  const { rows } = await database.pool.query<{ value: string; was: boolean; is: boolean }>(
    `select ${column} as value, ${before.get(name)} as was, ${after.get(name)} as is from unnest($1::text[]) as v (${column})`,
    [values],
  );
  expect(rows.filter(({ was, is }) => was !== is)).toEqual([]);
  for (const value of allowed) expect(rows).toContainEqual({ value, was: true, is: true });
  expect(rows.some(({ was }) => !was)).toBe(true);
});
