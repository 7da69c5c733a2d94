/** 0036_bans_by_name.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0036_bans_by_name.sql';
const database = useDatabase({ empty: true });

const ban = (columns: string, ...values: readonly unknown[]) =>
  database.pool.query(
    `insert into bans (tenant_id, kind, rank, ${columns})
     values (7, 'user', 100, ${values.map((_, at) => `$${at + 1}`).join(', ')})`,
    [...values],
  );

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
  await pool.query(
    `insert into rooms (tenant_id, uid, name, incarnation, state, ended_at, end_reason, policy)
     values (7, 'rm_1', 'lobby', 1, 'ENDED', '2026-01-02T03:04:05Z', 'ended', '{}'), (7, 'rm_2', 'lobby', 2, 'LIVE', null, null, '{}')`,
  );
  await ban('id, room_uid, value', 'ban_ended', 'rm_1', 'ann');
  await ban('id, room_uid, value', 'ban_live', 'rm_2', 'ann');
  await ban('id, room_uid, value', 'ban_of_all', null, 'ann');
  await pool.query(await readMigration(NAME));
});

test('bans of live rooms hold for the name, and those of ended rooms stay ended', async () => {
  const { rows } = await database.pool.query(
    'select id, room, room_uid as uid, lifted_at as lifted from bans order by id',
  );
  expect(rows).toEqual([
    { id: 'ban_ended', room: 'lobby', uid: 'rm_1', lifted: new Date('2026-01-02T03:04:05Z') },
    { id: 'ban_live', room: 'lobby', uid: 'rm_2', lifted: null },
    { id: 'ban_of_all', room: null, uid: null, lifted: null },
  ]);
});

test('a subject has one ban for each name, and a process of before sets none that nobody finds', async () => {
  await expect(ban('id, room, room_uid, value', 'b', 'lobby', 'rm_1', 'ann')).rejects.toMatchObject({
    constraint: 'bans_standing',
  });
  await expect(ban('id, room_uid, value', 'c', 'rm_2', 'bob')).rejects.toMatchObject({
    constraint: 'bans_room',
  });
});
