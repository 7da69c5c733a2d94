import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../../src/base/db/migrate.ts';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore } from '../../support/migrations.ts';

const TENANT = 7;

describe('0015_people.sql on a database with records', () => {
  const database = useDatabase({ empty: true });
  const pool = () => database.pool;

  beforeAll(async () => {
    await migrateBefore(pool(), '0015_people.sql');
    await pool().query(`insert into tenants (id, name, email) values ($1, 'Ada', 'ada@example.com')`, [
      TENANT,
    ]);
    await insert();
    await migrate(pool());
  });

  beforeEach(async () => {
    for (const table of ['usage_records', 'moderation_events']) {
      await pool().query(`alter table ${table} disable trigger user; delete from ${table};
                          alter table ${table} enable trigger user`);
    }
    await insert();
  });

  async function insert(): Promise<void> {
    await pool().query(
      `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                  capped, id, room, participant)
       values ($1, 1, 2, 3, 4, 5, 6, 'h', 'a', false, 'named', 'lobby', 'ann'),
              ($1, 1, 2, 3, 4, 5, 7, 'h', 'a', false, 'nameless', 'lobby', null)`,
      [TENANT],
    );
    await pool().query(
      `insert into moderation_events (tenant_id, id, action, kind, value, reason, actor, key_id)
       values ($1, 1, 'kick', 'user', 'ann', 'rude', 'bob', 'a key'), ($1, 2, 'kick', 'user', 'ann', '', null, 'a key')`,
      [TENANT],
    );
  }

  const update = (table: string, set: string) => pool().query(`update ${table} set ${set}`);

  test.each([
    ['usage_records', `participant = '(erased)' where id = 'named'`],
    // Nothing changes.
    ['usage_records', 'participant = participant, amount = amount'],
    ['moderation_events', `value = '(erased)', reason = '(erased)'`],
    ['moderation_events', `actor = '(erased)' where id = 1`],
  ])('allows: update %s set %s', async (table, set) => {
    await update(table, set);
    // A second time.
    await update(table, set);
  });

  test.each([
    ['usage_records', `participant = 'bob' where id = 'named'`],
    ['usage_records', `participant = null where id = 'named'`],
    ['usage_records', `participant = '' where id = 'named'`],
    ['usage_records', `participant = '(erased)' where id = 'nameless'`],
    ['moderation_events', `value = 'bob'`],
    ['moderation_events', `reason = ''`],
    ['moderation_events', `actor = null where id = 1`],
    ['moderation_events', `actor = '(erased)' where id = 2`],
  ])('refuses a name that is not erased: update %s set %s', async (table, set) => {
    await expect(update(table, set)).rejects.toThrow(
      new RegExp(`^${table} is append-only: \\w+ may only be erased$`),
    );
  });

  test.each([
    [
      'usage_records',
      ['tenant_id = 8', 'posting_seq = 9', 'egress_bytes = 9', 'ingress_bytes = 9', 'amount = 9'],
    ],
    [
      'usage_records',
      ['seconds = 9', 'line = 9', `role = 'a'`, `tier = 'h'`, 'capped = true', `id = '9'`, 'room = null'],
    ],
    [
      'moderation_events',
      ['id = 9', `action = 'ban'`, `kind = 'device'`, `tracks = '{audio}'`, `key_id = 'x'`, 'at = now()'],
    ],
  ])('refuses any other change of %s, beside an erasure too: %j', async (table, changes) => {
    const one = table === 'usage_records' ? `where id = 'named'` : 'where id = 1';
    const name = table === 'usage_records' ? 'participant' : 'value';
    for (const change of changes) {
      await expect(update(table, `${change} ${one}`)).rejects.toThrow(`${table} is append-only`);
      await expect(update(table, `${name} = '(erased)', ${change} ${one}`)).rejects.toThrow(
        `${table} is append-only`,
      );
    }
  });

  test.each(['usage_records', 'moderation_events'])(
    'refuses to delete from %s, and to empty it',
    async (table) => {
      await expect(pool().query(`delete from ${table}`)).rejects.toThrow(`${table} is append-only`);
      await expect(pool().query(`truncate ${table}`)).rejects.toThrow(`${table} is append-only`);
    },
  );

  test.each([
    [
      'a name when it is done',
      `insert into erasures (tenant_id, id, step, name, state, finished_at)
                                values (7, 'a', 'bans', 'ann', 'done', now())`,
    ],
    ['no name while it is pending', `insert into erasures (tenant_id, id, step) values (7, 'a', 'bans')`],
    [
      'the mark as a name',
      `insert into erasures (tenant_id, id, step, name) values (7, 'a', 'bans', '(erased)')`,
    ],
    [
      'an end while it is pending',
      `insert into erasures (tenant_id, id, step, name, finished_at)
                                    values (7, 'a', 'bans', 'ann', now())`,
    ],
  ])('refuses an erasure with %s', async (_, statement) => {
    await expect(pool().query(statement)).rejects.toMatchObject({ code: '23514' });
  });
});
