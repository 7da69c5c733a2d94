/** 0024_operators.sql: what its constraints refuse. */
import { expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
const ID = `vf_${'a'.repeat(32)}`;
const OTHER = `vf_${'b'.repeat(32)}`;

test.each([
  [`insert into operator_sessions (hash, operator) values ('short', 'ann')`, 'operator_sessions_hash_check'],
  [
    `insert into operator_sessions (hash, operator) values (sha256('a'), '')`,
    'operator_sessions_operator_check',
  ],
  [
    `insert into operator_links (hash, operator, expires_at) values (sha256('a'), '', now())`,
    'operator_links_operator_check',
  ],
  [`insert into verifications (id, operator) values ('vf_1', 'ann')`, 'verifications_id_check'],
  [`insert into verifications (id, operator, done) values ('${ID}', 'ann', -1)`, 'verifications_done_check'],
  [
    `insert into verifications (id, operator) values ('${ID}', 'ann'), ('${OTHER}', 'bob')`,
    'verification_under_way',
  ],
])('%s is refused', async (sql, constraint) => {
  await expect(database.pool.query(sql)).rejects.toMatchObject({ constraint });
});

test('verifications that are over stand beside one that goes on', async () => {
  await database.pool.query(
    `insert into verifications (id, operator, finished_at) values ('${ID}', 'ann', now()), ('${OTHER}', 'bob', null)`,
  );
});
