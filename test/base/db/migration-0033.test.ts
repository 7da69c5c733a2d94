/** 0033_sessions.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0033_sessions.sql';
const database = useDatabase({ empty: true });

const entry = (id: string, kind: string, address: string | null) =>
  database.pool.query(
    `insert into audit_entries (id, tenant_id, actor_kind, actor_id, address, action) values ($1, 7, $2, 'x', $3, 'tested')`,
    [id, kind, address],
  );

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
  await pool.query(
    `insert into console_sessions (hash, tenant_id, proof, operator)
     select sha256(each::text::bytea), 7, 'operator', 'grace' from generate_series(1, 3) each`,
  );
  await pool.query(
    `insert into operator_sessions (hash, operator) values (sha256('a'), 'grace'), (sha256('b'), 'ann')`,
  );
  await pool.query(
    `insert into tenant_status_changes (tenant_id, old_status, new_status, reason) values (7, 'pending', 'active', 'x')`,
  );
  await entry('before', 'operator', null);
  await pool.query(`do $$ begin ${await readMigration(NAME)} end $$`);
});

test('sessions of before stay, each with an id of its own', async () => {
  for (const [table, prefix, count] of [
    ['console_sessions', 'cs', 3],
    ['operator_sessions', 'os', 2],
  ] as const) {
    const { rows } = await database.pool.query<{ id: string }>(`select id from ${table}`);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(count);
    for (const { id } of rows) expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-f]{32}$`));
  }
});

test('entries of keys and members have an address, and those of log-ins may', async () => {
  await entry('operator', 'operator', '203.0.113.1');
  await entry('system', 'system', '203.0.113.1');
  for (const kind of ['key', 'member']) {
    await expect(entry(kind, kind, null)).rejects.toMatchObject({ constraint: 'audit_entries_check' });
  }
});

test('a change of the status of before told nobody anything', async () => {
  const { rows } = await database.pool.query('select told from tenant_status_changes');
  expect(rows).toEqual([{ told: null }]);
});
