import { expect, test } from 'vitest';
import {
  deleteExpiredAdmissions,
  deleteOldParticipants,
  upsertAdmission,
} from '../../src/participants/participants.sql.ts';
import { openFirstRoom } from '../../src/rooms/rooms.sql.ts';
import { newTenantId, type TenantId } from '../../src/tenants/tenant.ts';
import { insertTenant } from '../../src/tenants/tenants.sql.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

async function newTenant(): Promise<TenantId> {
  const tenant = newTenantId();
  const client = await database.pool.connect();
  await insertTenant(client, { id: tenant, name: 'Ada Video', email: 'ada@example.com' });
  client.release();
  return tenant;
}

async function enter(tenant: TenantId, roomUid: string, username: string): Promise<void> {
  await upsertAdmission(database.pool, {
    tenant,
    roomUid,
    username,
    skeleton: username,
    device: 'd',
    role: 'audience',
    rank: 20,
    capabilities: [],
    keyId: 'k',
    lifetimeSeconds: 600,
  });
}

test('admissions are forgotten long after they expired, some at a time', async () => {
  const { pool } = database;
  const tenant = await newTenant();
  const roomUid = (await openFirstRoom(pool, tenant, 'lobby'))!;
  for (const username of ['now', 'recent', 'old1', 'old2', 'old3']) await enter(tenant, roomUid, username);
  await pool.query(
    `update admissions set expires_at = now() - interval '23 hours' where username = 'recent'`,
  );
  await pool.query(
    `update admissions set expires_at = now() - interval '25 hours' where username like 'old%'`,
  );

  const sweep = () => deleteExpiredAdmissions(pool, { keepHours: 24, limit: 2 });
  expect([await sweep(), await sweep(), await sweep()]).toStrictEqual([2, 1, 0]);
  const { rows } = await pool.query('select username from admissions order by username');
  expect(rows.map((row) => row.username)).toStrictEqual(['now', 'recent']);
});

test('participants are forgotten a while after their room has ended, with their admissions', async () => {
  const { pool } = database;
  const tenant = await newTenant();
  for (const [room, endedAt] of [
    ['live', null],
    ['recent', '6 days'],
    ['old', '8 days'],
  ] as const) {
    const roomUid = (await openFirstRoom(pool, tenant, room))!;
    for (const username of ['ann', 'bob', 'cem']) await enter(tenant, roomUid, username);
    if (endedAt === null) continue;
    await pool.query(
      `update rooms set state = 'ENDED', end_reason = 'ended', ended_at = now() - $3::interval
        where tenant_id = $1 and uid = $2`,
      [tenant, roomUid, endedAt],
    );
  }

  const sweep = () => deleteOldParticipants(pool, { keepDays: 7, limit: 2 });
  expect([await sweep(), await sweep(), await sweep()]).toStrictEqual([2, 1, 0]);
  for (const table of ['participants', 'admissions']) {
    const { rows } = await pool.query(
      `select r.name, count(*)::integer from ${table} t join rooms r on r.tenant_id = t.tenant_id and r.uid = t.room_uid
        where t.tenant_id = $1 group by 1 order by 1`,
      [tenant],
    );
    expect(rows).toStrictEqual([
      { name: 'live', count: 3 },
      { name: 'recent', count: 3 },
    ]);
  }
});
