/** 0010_warnings_and_reasons.sql on a database with watchdogs that have warned and users who were expelled. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0010_warnings_and_reasons.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com');
    insert into rooms (tenant_id, uid, name, incarnation, policy) values (7, 'rm_1', 'lobby', 1, '{}');
    insert into watchdogs
      (tenant_id, id, room_uid, condition, duration_ms, action, warn_before_ms, state, looked_at, check_at)
    values (7, 'armed', 'rm_1', 'max_duration', 60000, 'notify', 20000, 'armed', now(), now()),
           (7, 'warned', 'rm_1', 'empty_for', 60000, 'notify', 20000, 'warned', '2026-01-01', now());
    insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at,
                              epoch, revoked_at, left_at, leave_reason)
    select 7, 'rm_1', name, name, 'audience', 0, '{}', now(), epoch, at, case when reason <> '' then now() end,
           nullif(reason, '')
      from (values ('kicked', 1, now(), 'kicked'), ('banned', 2, now(), 'banned'),
                   ('long ago', 1, now() - interval '17 minutes', 'kicked'), ('returned', 1, now(), ''),
                   ('expired', 1, now(), 'expired'), ('muted', 0, now(), 'ended')) as v (name, epoch, at, reason);
  `);
  await pool.query(await readMigration(NAME));
});

test('a watchdog that has warned did so when it was last looked at', async () => {
  const { rows } = await database.pool.query(
    `select id, warned_at = '2026-01-01' as "isLooked" from watchdogs order by id`,
  );
  expect(rows).toStrictEqual([
    { id: 'armed', isLooked: null },
    { id: 'warned', isLooked: true },
  ]);
});

test('users who were expelled lately have the reason for which they left', async () => {
  const { rows } = await database.pool.query<{ username: string }>(
    'select username, epoch_reason from participants where epoch_reason is not null order by username',
  );
  expect(rows).toStrictEqual([
    { username: 'banned', epoch_reason: 'banned' },
    { username: 'kicked', epoch_reason: 'kicked' },
  ]);
});
