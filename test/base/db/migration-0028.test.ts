/** 0028_oidc.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0028_oidc.sql';
const MEMBER = `m_${'0'.repeat(32)}`;
const database = useDatabase({ empty: true });

const session = (hash: string, proof: string, member: string | null, operator: string | null = null) =>
  database.pool.query(
    `insert into console_sessions (hash, tenant_id, proof, member_id, operator)
     values (sha256($1::bytea), 7, $2, $3, $4)`,
    [hash, proof, member, operator],
  );
const attempt = (hash: string, console: string, email: string | null, tenant: number | null) =>
  database.pool.query(
    `insert into login_attempts (hash, console, next, email, tenant_id)
     values (sha256($1::bytea), $2, '/console', $3, $4)`,
    [hash, console, email, tenant],
  );

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
  await pool.query(
    `insert into members (tenant_id, id, email, role) values (7, $1, 'ada@example.com', 'owner')`,
    [MEMBER],
  );
  await session('before', 'mail', MEMBER);
  await session('of the operator', 'operator', null, 'grace');
  await pool.query(await readMigration(NAME));
});

test('sessions stay, and those by the issuer are of members', async () => {
  const { rows } = await database.pool.query('select proof from console_sessions order by proof');
  expect(rows).toEqual([{ proof: 'mail' }, { proof: 'operator' }]);
  await session('oidc', 'oidc', MEMBER);
  const wrong = { constraint: 'console_sessions_check' };
  await expect(session('nobody', 'oidc', null)).rejects.toMatchObject(wrong);
  await expect(session('operator', 'operator', MEMBER, 'grace')).rejects.toMatchObject(wrong);
  await expect(session('x', 'guess', MEMBER)).rejects.toMatchObject({
    constraint: 'console_sessions_proof_check',
  });
});

test('an attempt to log in again knows who has to, and at which tenant', async () => {
  await attempt('first', 'tenants', null, null);
  await attempt('again', 'tenants', 'ada@example.com', 7);
  await attempt('operator', 'operators', null, null);
  await attempt('operator again', 'operators', 'grace@example.com', null);
  const wrong = { constraint: 'login_attempts_check' };
  await expect(attempt('a', 'tenants', 'ada@example.com', null)).rejects.toMatchObject(wrong);
  await expect(attempt('b', 'tenants', null, 7)).rejects.toMatchObject(wrong);
  await expect(attempt('c', 'operators', null, 7)).rejects.toMatchObject(wrong);
});
