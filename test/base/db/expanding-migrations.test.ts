/** A migration leaves the version before it what it uses, and lets it write meanwhile: see docs/decisions/0118. */
import { expect, test } from 'vitest';
import { indexOf, neededBy } from '../../../src/base/db/migration.ts';
import { migrationNames, readMigration } from '../../support/migrations.ts';

/** Databases have run those before. */
const FIRST_CHECKED = '0074';

const LOCKING = /create (?:unique )?index (?!concurrently )\w+ on (?:only )?(?<table>\w+)/g;

/** What harms the version before, and why. */
const TAKING: readonly (readonly [RegExp, string])[] = [
  [/drop (?:table|column|view) (?:if exists )?\w+/g, 'may use it'],
  [/alter (?:table|view) (?:only )?\w+ rename [^,;]+/g, 'uses the old name'],
  [/alter column \w+ (?:set data )?type [^,;]+/g, 'uses the old type'],
  [/alter column \w+ set not null/g, 'may write null'],
  [/add column \w+ (?:(?! default )[^,;])* not null(?= ?(?:[,;]|$)| check)/g, 'does not write it'],
];

/** A line for each statement that harms the version before, or makes it wait. */
function harmOf(name: string, sql: string): string[] {
  const text = sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ');
  const created = [...text.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, table]) => table);
  const locking = [...text.matchAll(LOCKING)]
    .filter(({ groups }) => !created.includes(groups!.table))
    .map(([statement]) => `${statement}: writers wait; create it concurrently, in a file of its own`);
  if (neededBy(name) !== undefined) return locking;
  const taking = TAKING.flatMap(([pattern, why]) =>
    [...text.matchAll(pattern)].map(([statement]) => `${statement}: the version before ${why}`),
  );
  return [...locking, ...taking];
}

test('each new one leaves the version before it what it uses', async () => {
  const names = (await migrationNames()).filter((name) => name >= FIRST_CHECKED);
  const harm = await Promise.all(names.map(async (name) => harmOf(name, await readMigration(name))));
  expect(harm.flat()).toEqual([]);
});

test('one that does not names a migration before it', async () => {
  const names = await migrationNames();
  const needing = names.filter((name) => neededBy(name) !== undefined);
  for (const name of needing) {
    expect(neededBy(name)! < name.slice(0, 4)).toBe(true);
    expect(names.some((each) => each.startsWith(`${neededBy(name)}_`))).toBe(true);
  }
});

test('older ones that did are found', async () => {
  const names = ['0070_webhook_orders.sql', '0072_webhook_recovery.sql', '0073_failed_deliveries.sql'];
  const harm = await Promise.all(names.map(async (name) => harmOf(name, await readMigration(name))));
  expect(harm.map((lines) => lines.length)).toEqual([0, 1, 1]);
});

test.each([
  ['create index rooms_state on rooms (state);', 1],
  ['create table seats (row text); create index seats_row on seats (row);', 0],
  ['create index concurrently rooms_state on rooms (state);', 0],
  ['drop table seats;', 1],
  ['alter table rooms drop column state, drop constraint rooms_state_check;', 1],
  ['alter table rooms rename column state to phase;', 1],
  ['alter table rooms alter column state type integer using 1;', 1],
  ['alter table rooms alter column state set not null;', 1],
  ['alter table rooms add column state text not null, add column seats integer;', 1],
  ["alter table rooms add column state text not null check (state <> '');", 1],
  ["alter table rooms add column state text not null default 'open' check (state <> '');", 0],
  ["alter table rooms add column state text default 'open' not null;", 0],
  ['alter table rooms add column state text; -- drop column phase', 0],
])('%s', (sql, count) => {
  expect(harmOf('0080_rooms.sql', sql)).toHaveLength(count);
});

test('what a newer version does not use may go', () => {
  expect(neededBy('0080_needs_rooms.sql')).toBeUndefined();
  expect(harmOf('0080_needs_0079_drop_state.sql', 'alter table rooms drop column state;')).toEqual([]);
  expect(harmOf('0080_needs_0079_rooms.sql', 'create index rooms_state on rooms (state);')).toHaveLength(1);
});

test.each([
  [
    '-- Why.\ncreate index concurrently rooms_state on rooms (state)\n  where state is null;\n',
    'rooms_state',
  ],
  ['create unique index concurrently rooms_uid on rooms (uid)', 'rooms_uid'],
  ['create index rooms_state on rooms (state);', undefined],
  ['create index concurrently a on rooms (a); create index concurrently b on rooms (b);', undefined],
])('%s creates concurrently: %s', (sql, index) => {
  expect(indexOf({ sql })).toBe(index);
});
