/** 0023_console.sql on a database with tenants. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0023_console.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email, status) values
      (7, 'Ada', 'Ada@Example.com', 'active'), (8, 'Also Ada', 'ada@example.com', 'suspended'),
      (9, 'Gone', 'gone@example.com', 'deleted');
  `);
  await pool.query(await readMigration(NAME));
});

test('the address of each tenant is that of its owner, in lower case', async () => {
  const { rows } = await database.pool.query(
    `select tenant_id, email, role, joined_at, id ~ '^m_[0-9a-f]{32}$' as has_id from members order by tenant_id`,
  );
  const owner = { email: 'ada@example.com', role: 'owner', joined_at: null, has_id: true };
  expect(rows).toStrictEqual([
    { tenant_id: 7n, ...owner },
    { tenant_id: 8n, ...owner },
  ]);
});

test.each([
  [
    `insert into members (tenant_id, id, email, role) values (7, 'm_1', 'b@example.com', 'owner')`,
    'members_id_check',
  ],
  [`update members set role = 'root' where tenant_id = 7`, 'members_role_check'],
  [
    `insert into console_sessions (hash, tenant_id, proof) values (sha256('a'), 7, 'mail')`,
    'console_sessions_check',
  ],
])('%s is refused', async (change, constraint) => {
  await expect(database.pool.query(change)).rejects.toMatchObject({ constraint });
});

test('the sessions of a member go with the member', async () => {
  const { pool } = database;
  await pool.query(
    `insert into console_sessions (hash, tenant_id, proof, member_id) select sha256('a'), 7, 'mail', id from members where tenant_id = 7`,
  );
  await pool.query('delete from members where tenant_id = 7');
  expect((await pool.query('select from console_sessions')).rowCount).toBe(0);
});
