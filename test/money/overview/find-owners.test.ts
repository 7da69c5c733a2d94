/** Operators find a tenant by the id of what it has: by an index each, however many rows there are. */
import { beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findOwners } from '../../../src/money/overview/find-owners.sql.ts';
import { listTenants } from '../../../src/money/overview/overview.ts';
import { useDatabase } from '../../support/database.ts';
import { runsStepForms } from '../../support/step-forms.ts';
import { makeTenants } from '../../support/tenants.ts';

const ROWS = 20_000;
/** Each search finds the last row of a table. */
const SEARCHES = {
  webhook_endpoints: `wh_${hex(ROWS)}`,
  sessions: `se_${hex(ROWS)}`,
  checkouts: `co_${hex(ROWS)}`,
  'checkouts, by the session of the provider': `cs_${hex(ROWS)}`,
  top_up_attempts: `tu_${hex(ROWS)}`,
  payments: `pi_${hex(ROWS)}`,
  members: `Person-${ROWS}@Example.com`,
  api_keys: hex(ROWS).slice(16),
  agent_keys: `a${hex(ROWS).slice(17)}`,
} as const;

function hex(number: number): string {
  return number.toString(16).padStart(32, '0');
}

const database = useDatabase();
let tenants: readonly TenantId[];

beforeAll(async () => {
  const { pool } = database;
  tenants = await makeTenants(pool, 2);
  const fill = (table: string, columns: string, values: string) =>
    pool.query(
      `insert into ${table} (tenant_id, ${columns})
       select $1::bigint, ${values} from (select n, lpad(to_hex(n), 32, '0') as hex from generate_series(1, ${ROWS}) n) as r`,
      [tenants[0]],
    );
  await fill('webhook_endpoints', 'id, url', `'wh_' || hex, 'https://x.example/'`);
  await fill(
    'sessions',
    'id, room, room_uid, participant, role, entered_at',
    `'se_' || hex, 'r', 'rm_1', 'p', 'host', now()`,
  );
  await fill('checkouts', 'id, amount, session_id', `'co_' || hex, 5, 'cs_' || hex`);
  await fill('top_up_attempts', 'id, amount, state, finished_at', `'tu_' || hex, 5, 'canceled', now()`);
  await fill('payments', 'id, kind, credited, checkout_id', `'pi_' || hex, 'top_up', 5, 'co_' || hex`);
  await fill('members', 'id, email, role', `'m_' || hex, 'person-' || n || '@example.com', 'viewer'`);
  await fill('api_keys', 'id, name, kind, hash', `right(hex, 16), 'x', 'relay', sha256(hex::bytea)`);
  await fill(
    'agent_keys',
    'id, name, hash, role, writes_per_day, expires_at',
    `'a' || right(hex, 15), 'x', sha256(hex::bytea), 'viewer', 0, now() + interval '1 day'`,
  );
  await pool.query(
    `insert into tenants (id, name, email) select n, 'Tenant ' || n, n || '@example.com' from generate_series(1, ${ROWS}) n`,
  );
  await pool.query(`insert into accounts (tenant_id) select generate_series(1, ${ROWS})`);
  await pool.query('analyze');
}, 300_000);

test.each(Object.entries(SEARCHES))('%s', async (_what, search) => {
  expect(await findOwners(database.pool, search)).toEqual([tenants[0]]);
  expect(
    (await listTenants(database.pool, { status: undefined, search, limit: 9 })).map(({ id }) => id),
  ).toEqual([tenants[0]]);
  const missing = search.replace(`${search.at(-1)}`, '').replace(/$/, 'f');
  if (missing !== search) expect(await findOwners(database.pool, missing)).toEqual([]);
});

test('no search reads a table, or an index, from its beginning to its end', async () => {
  if (runsStepForms()) return;
  const plans: string[] = [];
  const client = await database.pool.connect();
  // Statements of the service are planned once for all values, and so are these.
  const explaining = {
    query: async ({ name, text, values }: { name: string; text: string; values: unknown[] }) => {
      await client.query(`prepare "${name}" as ${text}`).catch(() => {});
      const literals = values.map((each) =>
        client.escapeLiteral(Array.isArray(each) ? `{${each}}` : `${each}`),
      );
      const { rows } = await client.query(`explain execute "${name}" (${literals})`);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return { rows: name.startsWith('find-owner') ? [{ tenant: tenants[0] }] : [] };
    },
  } as unknown as Db;
  const searches = Object.values(SEARCHES);
  for (const search of searches) await findOwners(explaining, search);
  await listTenants(explaining, { status: 'active', search: SEARCHES.sessions, limit: 9 });
  client.release(true);
  expect(plans).toHaveLength(searches.length + 2);
  for (const plan of plans) {
    // An index that is read as a whole costs hundreds, and so do all tenants.
    const [, cost] = /cost=[\d.]+\.\.([\d.]+)/.exec(plan)!;
    expect(Number(cost), plan).toBeLessThan(90);
  }
});
