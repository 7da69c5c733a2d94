/** 0027_passkeys.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0027_passkeys.sql';
const database = useDatabase({ empty: true });
const MEMBER = `m_${'0'.repeat(32)}`;
const PASSKEY = `pk_${'0'.repeat(32)}`;

const insertSession = (byte: string, proof: string, member: string | null, passkey: string | null) =>
  database.pool.query(
    `insert into console_sessions (hash, tenant_id, proof, member_id, passkey_id)
     values (decode(repeat($1, 32), 'hex'), 7, $2, $3, $4)`,
    [byte, proof, member, passkey],
  );

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com')`);
  await pool.query(
    `insert into members (tenant_id, id, email, role) values (7, $1, 'ann@example.com', 'owner')`,
    [MEMBER],
  );
  await pool.query(
    `insert into console_sessions (hash, tenant_id, proof, member_id) values (sha256('x'), 7, 'mail', $1)`,
    [MEMBER],
  );
  await pool.query(await readMigration(NAME));
  await pool.query(`insert into passkey_holders (email, handle) values ('ann@example.com', sha256('h'))`);
  await pool.query(
    `insert into passkeys (id, email, credential, public_key, counter, transports, name, backed_up)
     values ($1, 'ann@example.com', 'c', 'k', 0, '{}', 'laptop', false)`,
    [PASSKEY],
  );
});

test('sessions of before go on, and one by passkey ends with it', async () => {
  await insertSession('01', 'passkey', MEMBER, PASSKEY);
  await database.pool.query(`delete from passkey_holders`);
  const { rows } = await database.pool.query('select proof from console_sessions');
  expect(rows).toEqual([{ proof: 'mail' }]);
});

test.each([
  ['passkey', MEMBER, null, 'console_sessions_passkey_check'],
  ['mail', MEMBER, PASSKEY, 'console_sessions_passkey_check'],
  ['passkey', null, PASSKEY, 'console_sessions_check'],
  ['mail', null, null, 'console_sessions_check'],
  ['password', MEMBER, null, 'console_sessions_proof_check'],
])('no session is by %s of member %s with passkey %s', async (proof, member, passkey, constraint) => {
  await expect(insertSession('02', proof, member, passkey)).rejects.toMatchObject({ constraint });
});
