/** Statements have names: PostgreSQL plans a statement without one for each call, which often costs more than running it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Files whose unnamed statements are left as they are. */
const UNNAMED: Readonly<Record<string, string>> = {
  'src/base/db/distribution.ts': 'at the start',
  'src/base/db/migrate.ts': 'runs once',
  'src/base/db/opening-tx.ts': 'begin and commit have no plan',
  'src/base/db/pipeline.ts': 'sends statements, each of which has a name',
  'src/base/db/pool.ts': 'settings have no plan',
  'src/base/db/read-by-cursor.ts': 'a cursor is planned once, when it is declared',
  'src/base/db/run-migration.ts': 'runs once',
  'src/base/db/snapshot.ts': 'for operators',
  'src/base/db/transaction.ts': 'begin, commit and rollback have no plan',
  'src/base/tenants/shares.ts': 'Citus plans for the servers that are there',
  'src/events/listen.ts': 'LISTEN has no plan',
  'src/events/log-snapshot.sql.ts': 'begin and rollback have no plan',
  'src/control/moderation/broken-bans.sql.ts': 'finding broken bans needs a plan of the moment',
  'src/control/moderation/revoked-keys.sql.ts': 'finding revoked credentials needs a plan of the moment',
  'src/money/verification/compare-sums.sql.ts': 'for operators',
  'src/money/verification/provider-book.sql.ts': 'once an hour',
  'src/money/verification/verify.sql.ts': 'for operators',
  'src/money/ledger/ledger.sql.ts': 'adjustments by operators',
  'src/money/ledger/walk-ledger.sql.ts': 'how many records the values mean decides about the plan',
  'src/money/overview/overview.sql.ts': 'for operators',
  'src/money/records/records-of-postings.sql.ts': 'how many records the values mean decides about the plan',
  'src/money/records/sum-by-participant.sql.ts': 'how many records the values mean decides about the plan',
  'src/money/usage/conflicts.sql.ts': 'conflicts are rare',
  'src/outward/export/exported-rows.sql.ts': 'one for each table, seldom',
  'src/run/check-database.ts': 'at the start',
  'src/run/admin/distribution.ts': 'for operators',
  'src/run/distribution/distribute.ts': 'runs once',
  'src/run/distribution/distribution-state.ts': 'for operators',
  'src/run/embedded-postgres/embedded-postgres.ts': 'at the start',
  'src/run/recovery/database-state.sql.ts': 'for operators',
  'src/run/sealed-columns.sql.ts': 'for operators',
};

const files = globSync('src/**/*.ts', { cwd: ROOT }).sort();
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** A call of `query()` whose statement does not begin with a name. */
const UNNAMED_QUERY = /\.query(?:<[^(]*>)?\((?!\s*\{\s*name\b)/;

describe('statements', () => {
  test('have a name', () => {
    expect(files.filter((file) => UNNAMED_QUERY.test(textOf(file)))).toEqual(Object.keys(UNNAMED).sort());
  });

  test('have different names', () => {
    const names = files.flatMap((file) =>
      [...textOf(file).matchAll(/\bname: ['`](.+)['`],\s*text:|\bfiltered\(\s*['`]([^'`]+)['`]/g)].map(
        ([, name, filtered]) => name ?? filtered,
      ),
    );
    expect(names.length).toBeGreaterThan(150);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test('ask for usage records in one folder alone, which knows all places where they are kept', () => {
    const asking = files.filter((file) =>
      /\b(from|join|into|update|copy) usage_records\b/.test(textOf(file)),
    );
    expect(asking.filter((file) => !file.startsWith('src/money/records/'))).toEqual([]);
    expect(asking.length).toBeGreaterThan(3);
  });

  test('compare no column with a parameter that may be absent', () => {
    // The plan that is kept for a name must serve both cases, so it uses no index: see `base/db/filtered.ts`.
    const optional = /\(\$\d+(?:::\w+(?:\[\])?)? is null or (?!at not between)/;
    expect(files.filter((file) => !(file in UNNAMED) && optional.test(textOf(file)))).toEqual([]);
  });
});

describe('made-up calls', () => {
  test.each([
    ["db.query('select 1')", true],
    ['db.query<{ a: 1 }>(\n  `select 1`)', true],
    ["db.query({ text: 'select 1' })", true],
    ["db.query({ name: 'a', text: 'select 1' })", false],
    ['tx.query<Row>({\n  name,\n  text })', false],
  ])('%j', (call, isUnnamed) => {
    expect(UNNAMED_QUERY.test(call)).toBe(isUnnamed);
  });
});
