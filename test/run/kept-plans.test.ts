/**
 * The plans that connections keep, by what the planner knows: of tables with 1,000 rows and with 200,000. Only statistics say so, and
 * each table has one row. Beside one row all indexes cost the same, so a statement may read another one from its start to its end, and some
 * 80 do. Only that each has an index is looked at; `test/base/db/grown-tables.test.ts` is about what replaces these plans.
 */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSessions } from '../../src/control/sessions/sessions.sql.ts';
import { useDatabase } from '../support/database.ts';
import { collectKeptStatements, type KeptStatement } from '../support/kept-statements.ts';

const database = useDatabase({ makesUpEvents: true });
let client: pg.PoolClient;
let statements: KeptStatement[];
/** By index. */
const tableOf = new Map<string, string>();

const words = (text: string) => text.trim().split(/\s+/);
/** These have few rows in every deployment. */
const SMALL_TABLES =
  words(`event_listeners login_attempts operator_links operator_sessions pg_database processes provider_cursor
  provider_drift rate_cards signing_keys`);
/** These have what waits to be done, which is little. */
const QUEUES =
  words(`claim-erasure claim-unknown-card count-open-events count-stopped-webhooks count-unknown-attempts end-quiet-verification find-behind-new-charges
  find-mail-health find-ms-to-next-check find-open-event find-tenants-with-unnumbered list-open-events take-usage-deltas take-waiting-conflicts`);
/** These are about all tenants: jobs, and lists of operators. */
const OF_ALL_TENANTS =
  words(`compare-alerts count-tenants delete-ended-windows find-archived find-behind-all-accounts find-oldest-unassigned
  find-tenants-status-text find-tenants-to-archive find-tenants-with-webhooks list-attempts-tenant-state list-conflict-tenants list-fraud-warnings list-lags list-mails
  list-verifications measure-webhooks sum-revenue`);

/** Those that cannot be explained, and those that read the catalog of Citus. */
const WITHOUT_PLAN = /^(copy|lock) |pg_dist_node/;

/** PostgreSQL 18 is the first that lets statistics be set. */
const VERSION_MIN = 180_000;
const isTooOld = async () =>
  Number((await client.query('show server_version_num')).rows[0].server_version_num) < VERSION_MIN;

beforeAll(async () => {
  client = await database.pool.connect();
  statements = (await collectKeptStatements()).filter(({ text }) => !WITHOUT_PLAN.test(text));
  await addOneRowEach();
  const { rows } = await client.query(
    `select indexrelid::regclass::text as index, indrelid::regclass::text as table from pg_index`,
  );
  for (const { index, table } of rows) tableOf.set(index, table);
  // As the busiest statements are planned.
  for (const setting of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) {
    await client.query(`set ${setting} to off`);
  }
});
afterAll(() => client?.release(true));

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isGenerated: boolean;
}

async function listColumns(): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select relname as table, attname as name, typname as type, not attnotnull as "isNullable", attgenerated <> '' as "isGenerated"
       from pg_attribute join pg_class c on c.oid = attrelid join pg_type t on t.oid = atttypid
      where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
      order by 1, attnum`,
  );
  return rows;
}

const ONE_OF: Readonly<Record<string, string>> = {
  text: `'x'`,
  bool: 'false',
  timestamptz: 'now()',
  date: 'now()',
  bytea: `'x'`,
  jsonb: `'{}'`,
  json: `'{}'`,
  char: `'x'`,
  inet: `'127.0.0.1'`,
  cidr: `'127.0.0.1'`,
};

/** A table without a page has no rows for the planner, whatever its statistics say. */
async function addOneRowEach(): Promise<void> {
  const { rows } = await client.query<{ change: string }>(
    `select format('alter table %s drop constraint %I cascade', conrelid::regclass, conname) as change from pg_constraint
      where connamespace = 'public'::regnamespace and contype in ('c', 'f')`,
  );
  for (const { change } of rows) await client.query(change);
  for (const [table, columns] of Map.groupBy(await listColumns(), (each) => each.table)) {
    const own = columns.filter(({ isGenerated }) => !isGenerated);
    const values = own.map(({ type }) => (type.startsWith('_') ? `'{}'` : (ONE_OF[type] ?? '1')));
    await client.query(`alter table ${table} disable trigger user`);
    await client.query(
      `insert into ${table} (${own.map(({ name }) => name)}) overriding system value values (${values}) on conflict do nothing`,
    );
  }
}

/** A state, a kind, and so on. */
const FEW = /^(state|status|kind|type|role|tier|action|condition|purpose|limit_name|console)$/;

/** As many as there would be with so many tenants, or their share of the rows if it is below 0. */
function distinctOf({ name, type }: Column, tenants: number): number {
  if (name === 'tenant_id') return tenants;
  if (type === 'bool') return 2;
  return type === 'char' || FEW.test(name) ? 5 : -0.5;
}

/** Let the planner take each table for one with so many rows, of so many tenants. */
async function setRows(rows: number, tenants = 200): Promise<void> {
  await client.query(
    `select pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text, 'relpages', 1, 'reltuples', $1::real)
       from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`,
    [rows],
  );
  for (const column of await listColumns()) {
    await client.query(
      `select pg_restore_attribute_stats('schemaname', 'public', 'relname', $1::text, 'attname', $2::text, 'inherited', false,
                'null_frac', $3::real, 'avg_width', 8, 'n_distinct', $4::real)`,
      [column.table, column.name, column.isNullable ? 0.5 : 0, Math.min(distinctOf(column, tenants), rows)],
    );
  }
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Plan[];
}

/** The tables, or indexes, that a plan reads from their start to their end. */
function readWhole(plan: Plan): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = plan;
  const isWhole = (type === 'Seq Scan' || index !== undefined) && condition === undefined;
  return [...(isWhole ? [index ?? table!] : []), ...(plan.Plans ?? []).flatMap(readWhole)];
}

async function planOf({ text }: KeptStatement): Promise<Plan> {
  const { rows } = await client.query(`explain (generic_plan, format json) ${text}`);
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** Those of the statements that read a whole table or index, with what they read. */
async function findWhole(
  asked: readonly KeptStatement[],
  isLookedAt: (read: string) => boolean = () => true,
): Promise<string[]> {
  const found: string[] = [];
  for (const statement of asked) {
    const read = readWhole(await planOf(statement)).filter(
      (each) => isLookedAt(each) && !SMALL_TABLES.includes(tableOf.get(each) ?? each),
    );
    if (read.length > 0) found.push(`${statement.name}: ${read}`);
  }
  return found;
}

/** Columns of an index that a plan compares after it has read the index: they have another collation than what they equal. */
function comparedLate(plan: Plan, columnsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const { 'Index Name': index = '', Filter: filter = '' } = plan;
  // An index cannot answer these anyway.
  const isOneOf = / OR |NOT |SubPlan/.test(filter);
  const compared = isOneOf
    ? []
    : [...filter.matchAll(/(?:^\(+|AND \(*)(\w+) = /g)].map(([, column]) => column!);
  const late = compared.filter((column) => columnsOf.get(index)?.includes(column));
  return [
    ...late.map((column) => `${index} ${column}`),
    ...(plan.Plans ?? []).flatMap((each) => comparedLate(each, columnsOf)),
  ];
}

test('each statement finds names of another collation by their index', async ({ skip }) => {
  skip(await isTooOld(), 'the statistics of this PostgreSQL cannot be set');
  await setRows(200_000);
  const { rows } = await client.query<{ index: string; columns: string[] }>(
    `select indexrelid::regclass::text as index, array_agg(attname::text) as columns
       from pg_index join pg_attribute on attrelid = indexrelid group by indexrelid`,
  );
  const columnsOf = new Map(rows.map(({ index, columns }) => [index, columns]));
  const found: string[] = [];
  for (const statement of statements) {
    found.push(
      ...comparedLate(await planOf(statement), columnsOf).map((late) => `${statement.name}: ${late}`),
    );
  }
  expect(found).toEqual([]);
});

const SIZES = [
  [1_000, 200],
  [200_000, 200],
  [200_000, 3],
  [200_000, 20_000],
] as const;

test.for(SIZES)(
  'each statement finds its rows by a key beside %i others of %i tenants',
  async ([rows, tenants], { skip }) => {
    skip(await isTooOld(), 'the statistics of this PostgreSQL cannot be set');
    await setRows(rows, tenants);
    const known = new Set([...QUEUES, ...OF_ALL_TENANTS]);
    const planned = statements.filter(({ name }) => !known.has(name));
    expect(planned.length).toBeGreaterThan(450);
    expect(await findWhole(planned)).toEqual([]);
  },
);

test('no statement reads a whole table that had one row when it was analyzed', async ({ skip }) => {
  skip(await isTooOld(), 'the statistics of this PostgreSQL cannot be set');
  await setRows(1, 1);
  const known = new Set([...QUEUES, ...OF_ALL_TENANTS]);
  const planned = statements.filter(({ name }) => !known.has(name));
  const isTable = (name: string) => !tableOf.has(name);
  expect(await findWhole(planned, isTable)).toEqual([]);
});

test('a statement without an index is found', async ({ skip }) => {
  skip(await isTooOld(), 'the statistics of this PostgreSQL cannot be set');
  await setRows(200_000);
  const reading = (where: string) => ({ name: 'read-rooms', text: `select from rooms where ${where}` });
  expect(await findWhole([reading('tenant_id = $1 and uid = $2')])).toEqual([]);
  expect(await findWhole([reading('policy = $1')])).toEqual(['read-rooms: rooms']);
  await setRows(1, 1);
  expect(await findWhole([reading('policy = $1')], (each) => each === 'rooms')).toEqual([
    'read-rooms: rooms',
  ]);
});

const PAIRS = [
  ['key', 'customer'],
  ['room', 'key'],
  ['room', 'customer'],
] as const;

test.for(PAIRS)('sessions by %s and %s are read by an index of both', async (pair, { skip }) => {
  skip(await isTooOld(), 'the statistics of this PostgreSQL cannot be set');
  await setRows(200_000);
  const asked: string[] = [];
  const db = { query: async ({ text }: { text: string }) => ({ rows: asked.push(text) && [] }) };
  const filter = Object.fromEntries(pair.map((name) => [name, 'x']));
  await findSessions(db as never, 1n as never, filter as never, { after: null, limit: 100 });
  const filters = (plan: Plan): string[] => [
    ...(plan.Filter ? [plan.Filter] : []),
    ...(plan.Plans ?? []).flatMap(filters),
  ];
  expect(filters(await planOf({ text: asked[0]! } as KeptStatement))).toEqual([]);
});
