/** Statements about admissions that were planned while a tenant had one. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findEntryStates } from '../../../src/control/admission/entry-state.sql.ts';
import { findUsersOfDevice } from '../../../src/control/rooms/participants.sql.ts';
import { DEFAULT_POLICY } from '../../../src/control/rooms/room.ts';
import { useDatabase } from '../../support/database.ts';
import { runsStepForms } from '../../support/step-forms.ts';
import { makeTenant } from '../../support/tenants.ts';

const ROOMS = 500;
const ROWS_MAX = 20;
const DEVICE = 'device of ann';

const database = useDatabase();
let pool: Pool;
let connection: pg.PoolClient;
let tenant: TenantId;

beforeAll(async () => {
  tenant = await makeTenant(database.pool, { status: 'active' });
  await admit(tenant, DEVICE, 1, 1);
  await database.pool.query('analyze');
  pool = openPool(database.url, { max: 1, plansByKey: true });
  connection = await pool.connect();
});

afterAll(async () => {
  connection.release();
  await pool.end();
});

/** One user in each of the rooms. */
async function admit(of: TenantId, device: string, first: number, last: number): Promise<void> {
  await database.pool.query(
    `with r as (
       insert into rooms (tenant_id, uid, name, incarnation, policy)
       select $1::bigint, $1::bigint || ' ' || n, 'room-' || n, 1, $5 from generate_series($3::integer, $4) n
       returning tenant_id, uid
     ), p as (
       insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
       select tenant_id, uid, 'ann', 'ann', 'host', 80, '{}', now() + interval '1 day' from r
       returning *
     )
     insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
     select tenant_id, room_uid, username, $2, role, rank, capabilities, 'key', expires_at from p`,
    [of, device, first, last, DEFAULT_POLICY],
  );
}

const entering = () =>
  findEntryStates(connection, [
    { tenant, room: 'room-1', username: 'ann', thumbprint: DEVICE, address: undefined },
  ]);
const usersOfDevice = () => findUsersOfDevice(connection, tenant, null, DEVICE);

/** How many admissions `work` reads, and what it returns. */
async function observe<T>(work: () => Promise<T>): Promise<{ result: T; rows: number }> {
  await connection.query('begin');
  const before = await countRead();
  const result = await work();
  const rows = (await countRead()) - before;
  await connection.query('commit');
  return { result, rows };
}

async function countRead(): Promise<number> {
  const { rows } = await connection.query<{ count: number }>(
    `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as count from pg_stat_xact_user_tables
      where relname = 'admissions'`,
  );
  return rows[0]!.count;
}

test.skipIf(runsStepForms())('find their rows by key when there are many, without a new plan', async () => {
  await entering();
  await usersOfDevice();
  await admit(tenant, 'another device', 2, ROOMS);
  // Any tenant may admit devices of people who also are in rooms of others.
  await admit(await makeTenant(database.pool, { status: 'active' }), DEVICE, 1, ROOMS);

  const state = await observe(entering);
  expect(state.result).toMatchObject([{ isAdmitted: true, highestRank: 80 }]);
  expect(state.rows).toBeLessThan(ROWS_MAX);
  const users = await observe(usersOfDevice);
  expect(users.result).toHaveLength(1);
  expect(users.rows).toBeLessThan(ROWS_MAX);
  const { rows } = await connection.query(
    'select name, generic_plans::integer + custom_plans::integer as runs from pg_prepared_statements order by name',
  );
  expect(rows).toEqual([
    { name: 'find-entry-states', runs: 2 },
    { name: 'find-users-of-device', runs: 2 },
  ]);
});
