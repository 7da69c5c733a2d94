import { expect, test } from 'vitest';
import { deleteExpiredAdmissions, upsertAdmission } from '../../src/participants/participants.sql.ts';
import { openFirstRoom } from '../../src/rooms/rooms.sql.ts';
import { newTenantId } from '../../src/tenants/tenant.ts';
import { insertTenant } from '../../src/tenants/tenants.sql.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

test('admissions are forgotten long after they expired, some at a time', async () => {
  const { pool } = database;
  const tenant = newTenantId();
  const client = await pool.connect();
  await insertTenant(client, { id: tenant, name: 'Ada Video', email: 'ada@example.com' });
  client.release();
  const roomUid = (await openFirstRoom(pool, tenant, 'lobby'))!;
  for (const username of ['now', 'recent', 'old1', 'old2', 'old3']) {
    await upsertAdmission(pool, {
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
