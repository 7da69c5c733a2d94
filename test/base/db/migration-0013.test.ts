/** 0013_lapses.sql on a database with participants. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0013_lapses.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com');
    insert into rooms (tenant_id, uid, name, incarnation, policy)
    values (7, 'rm_1', 'lobby', 1, '{}'), (7, 'rm_2', 'empty', 1, '{}');
    insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at,
                              left_at, leave_reason)
    select 7, uid, name, name, 'audience', 0, '{}', at::timestamptz, case when gone then at::timestamptz end,
           case when gone then 'expired' end
      from (values ('rm_1', 'ann', '2026-01-03', false), ('rm_1', 'bob', '2026-01-02', false),
                   ('rm_1', 'cem', '2026-01-01', true), ('rm_2', 'dee', '2026-01-01', true)) as v (uid, name, at, gone);
  `);
  await pool.query(await readMigration(NAME));
});

test('each room with participants is due when the first of them lapses', async () => {
  const { rows } = await database.pool.query(
    `select room_uid, due_at = '2026-01-02' as "isOfBob" from room_lapses order by room_uid`,
  );
  expect(rows).toStrictEqual([{ room_uid: 'rm_1', isOfBob: true }]);
});
