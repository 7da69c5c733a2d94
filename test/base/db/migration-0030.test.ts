/** 0030_usage_by_day.sql on a database with sums by hour. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0030_usage_by_day.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  // Not UTC, and not a whole number of hours from it: days and weeks do not depend on it.
  await pool.query(`
    set timezone = 'Asia/Kathmandu';
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com'), (8, 'Bob', 'bob@example.com');
    insert into usage_room_hours
      (tenant_id, hour, room, role, tier, records, seconds, egress_bytes, ingress_bytes, amount, unbilled) values
      (7, '2026-10-11T22:00Z', 'stage', 'h', 'a', 1, 10, 100, 1000, 5, 0),
      (7, '2026-10-11T23:00Z', 'stage', 'h', 'a', 2, 20, 200, 2000, 6, 0),
      (7, '2026-10-11T23:00Z', 'stage', 'a', 'k', 3, 30, 10000000000000000000000, 3000, 0, 7),
      (7, '2026-10-12T00:00Z', 'stage', 'a', 'k', 4, 40, 400, 4000, 8, 0),
      (7, '2026-10-18T23:00Z', 'stage', 'a', 'k', 5, 50, 500, 5000, 9, 0),
      (7, '2026-10-18T23:00Z', '', 'a', 'k', 6, 60, 600, 6000, 10, 0),
      (8, '2026-10-18T23:00Z', 'stage', 'a', 'k', 7, 70, 700, 7000, 11, 0),
      (7, date_trunc('day', now(), 'UTC'), 'stage', 'a', 'k', 8, 80, 800, 8000, 12, 0);
    insert into usage_hours
      select tenant_id, hour, role, tier, sum(records), sum(seconds), sum(egress_bytes), sum(ingress_bytes), sum(amount), sum(unbilled)
        from usage_room_hours group by tenant_id, hour, role, tier;
    insert into tenants (id, name, email) values (9, 'Without usage', 'none@example.com');
    ${await readMigration(NAME)}`);
});

const read = async (unit: 'day' | 'week') => {
  const { rows } = await database.pool.query(
    `select concat_ws(' ', tenant_id, to_char(${unit} at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), quote_literal(room), records,
                      seconds, egress_bytes, ingress_bytes, amount, unbilled) as row
       from usage_room_${unit}s order by tenant_id, ${unit}, room`,
  );
  return rows.map(({ row }) => row);
};

test('sums of days are those of their hours, of days that are over', async () => {
  expect(await read('day')).toEqual([
    `7 2026-10-11 00:00 'stage' 6 60 10000000000000000000300 6000 11 7`,
    `7 2026-10-12 00:00 'stage' 4 40 400 4000 8 0`,
    `7 2026-10-18 00:00 '' 6 60 600 6000 10 0`,
    `7 2026-10-18 00:00 'stage' 5 50 500 5000 9 0`,
    `8 2026-10-18 00:00 'stage' 7 70 700 7000 11 0`,
  ]);
});

test('sums of weeks are those of their days, from Monday on, of weeks that are over', async () => {
  expect(await read('week')).toEqual([
    `7 2026-10-05 00:00 'stage' 6 60 10000000000000000000300 6000 11 7`,
    `7 2026-10-12 00:00 '' 6 60 600 6000 10 0`,
    `7 2026-10-12 00:00 'stage' 9 90 900 9000 17 0`,
    `8 2026-10-12 00:00 'stage' 7 70 700 7000 11 0`,
  ]);
});

test('days go up to the last midnight', async () => {
  const { rows } = await database.pool.query(
    `select tenant_id, until = date_trunc('day', now(), 'UTC') as today from usage_rollups order by tenant_id`,
  );
  expect(rows).toEqual([
    { tenant_id: 7n, today: true },
    { tenant_id: 8n, today: true },
  ]);
});

test.each([
  ['day', '2026-10-18T23:00Z', 'usage_room_days_day_check'],
  ['week', '2026-10-13T00:00Z', 'usage_room_weeks_week_check'],
])('a %s begins at %s: refused', async (unit, time, constraint) => {
  const change = `update usage_room_${unit}s set ${unit} = $1 where tenant_id = 8`;
  await expect(database.pool.query(change, [time])).rejects.toMatchObject({ constraint });
});
