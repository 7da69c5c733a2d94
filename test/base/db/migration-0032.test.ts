/** 0032_proved_members.sql on a database of before. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0032_proved_members.sql';
const database = useDatabase({ empty: true });
const idOf = (letter: string) => `m_${letter.repeat(32)}`;

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Joined', 'Ada@example.com'), (8, 'Only invited', 'bo@example.com'),
                                                 (9, 'Joined first', 'cy@example.com');
    insert into members (tenant_id, id, email, role, joined_at)
    values (7, '${idOf('a')}', 'ada@example.com', 'owner', '2026-03-01'),
           (7, '${idOf('b')}', 'bo@example.com', 'viewer', null),
           (8, '${idOf('c')}', 'bo@example.com', 'owner', null),
           (9, '${idOf('d')}', 'cy@example.com', 'owner', '2026-01-01');
    insert into console_sessions (hash, tenant_id, proof, member_id, seen_at)
    values (sha256('one'), 7, 'mail', '${idOf('a')}', '2026-04-01');
    insert into api_keys (id, tenant_id, name, kind, hash, created_at)
    select id, tenant, 'key', 'backend', sha256(id::bytea), at::timestamptz
      from (values ('aaaaaaaaaaaaaaaa', 7, '2026-02-01'), ('bbbbbbbbbbbbbbbb', 7, '2026-05-01'),
                   ('cccccccccccccccc', 8, '2026-02-01'), ('dddddddddddddddd', 9, '2026-02-01')) k (id, tenant, at);
    insert into accounts (tenant_id) values (7), (8), (9);
    insert into payment_settings (tenant_id) values (7), (8), (9);
    insert into audit_entries (id, tenant_id, actor_kind, actor_id, address, action)
    select 'au_' || md5(n::text), tenant, 'key', key, '(erased)', 'auto_top_up_changed'
      from (values (1, 7, 'aaaaaaaaaaaaaaaa'), (2, 7, 'bbbbbbbbbbbbbbbb'), (3, 8, 'cccccccccccccccc')) e (n, tenant, key)`);
  await pool.query(await readMigration(NAME));
});

test('whoever joined stays a member, and the others are invited', async () => {
  const { rows } = await database.pool.query(
    `select left(id, 3) as id, is_founder, must_review, last_used_at = '2026-04-01' as by_session, last_used_at is null as unused
       from members order by id`,
  );
  expect(rows).toEqual([
    { id: 'm_a', is_founder: true, must_review: true, by_session: true, unused: false },
    { id: 'm_b', is_founder: false, must_review: false, by_session: null, unused: true },
    { id: 'm_c', is_founder: true, must_review: false, by_session: null, unused: true },
    { id: 'm_d', is_founder: true, must_review: false, by_session: false, unused: false },
  ]);
});

test('keys from after the proof are trusted, and settings that other keys made last are theirs', async () => {
  const keys = await database.pool.query('select left(id, 1) as id from api_keys where trusted order by id');
  expect(keys.rows).toEqual([{ id: 'b' }, { id: 'd' }]);
  const settings = await database.pool.query(
    'select left(top_up_key, 1) as key from payment_settings order by tenant_id',
  );
  expect(settings.rows).toEqual([{ key: null }, { key: 'c' }, { key: null }]);
});

test('a link of a person has an address, and that of a passkey the passkey', async () => {
  const insert = (proof: string, email: string | null, tenant: number | null) =>
    database.pool.query(
      `insert into login_links (hash, proof, email, tenant_id, next, expires_at)
       values (sha256(random()::text::bytea), $1, $2, $3, '/console', now())`,
      [proof, email, tenant],
    );
  await insert('oidc', 'ada@example.com', null);
  await expect(insert('oidc', null, 7)).rejects.toMatchObject({ constraint: 'login_links_email_check' });
  await expect(insert('passkey', 'ada@example.com', null)).rejects.toMatchObject({
    constraint: 'login_links_passkey_check',
  });
});
