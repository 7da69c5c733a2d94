/** 0025_moderation_by_members.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0025_moderation_by_members.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
  await pool.query(await readMigration(NAME));
});

test('what a person does in a room has neither a key nor a watchdog', async () => {
  const { rowCount } = await database.pool.query(
    `insert into moderation_events (tenant_id, id, action) values (7, 1, 'kick')`,
  );
  expect(rowCount).toBe(1);
});

test('nothing is done by a key and a watchdog', async () => {
  const both = `insert into moderation_events (tenant_id, id, action, key_id, watchdog_id) values (7, 2, 'kick', 'k', 'w')`;
  await expect(database.pool.query(both)).rejects.toMatchObject({ constraint: 'moderation_events_check1' });
});
