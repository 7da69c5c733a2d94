import { describe, expect, it } from 'vitest';
import { appendAudit } from '../../../src/base/audit/append-audit.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { useDatabase } from '../../support/database.ts';

describe('appendAudit()', () => {
  const database = useDatabase();
  const KEY = { kind: 'key', id: '0123456789abcdef', address: '203.0.113.9' } as const;
  const NOTHING = { subject: null, before: null, after: null } as const;

  async function entriesOf(action: string) {
    const { rows } = await database.pool.query(
      `select actor_kind, actor_id, address, subject, before, after::text as after
         from audit_entries where action = $1 order by seq`,
      [action],
    );
    return rows;
  }

  it('stores who changed what, from where', async () => {
    await appendAudit(database.pool, null, KEY, {
      action: 'thing_changed',
      subject: 'thing',
      before: { on: false, since: null },
      after: { on: true, since: new Date(0), rooms: ['a'], left_out: undefined },
    });
    expect(await entriesOf('thing_changed')).toEqual([
      {
        actor_kind: 'key',
        actor_id: KEY.id,
        address: KEY.address,
        subject: 'thing',
        before: { on: false, since: null },
        after: '{"on": true, "rooms": ["a"], "since": "1970-01-01T00:00:00.000Z"}',
      },
    ]);
  });

  it('keeps amounts exact', async () => {
    const amount_micros = 2n ** 63n - 1n;
    await appendAudit(
      database.pool,
      null,
      { kind: 'operator', id: 'ann' },
      {
        action: 'amount_changed',
        subject: null,
        before: null,
        after: { amount_micros },
      },
    );
    expect(await entriesOf('amount_changed')).toMatchObject([
      {
        actor_kind: 'operator',
        actor_id: 'ann',
        address: null,
        after: `{"amount_micros": ${amount_micros}}`,
      },
    ]);
  });

  it('is undone with its transaction', async () => {
    const failed = inTransaction(database.pool, async (tx) => {
      await appendAudit(tx, null, { kind: 'system', id: 'test' }, { action: 'undone', ...NOTHING });
      throw new Error('after all');
    });
    await expect(failed).rejects.toThrow('after all');
    expect(await entriesOf('undone')).toEqual([]);
  });

  describe('the table', () => {
    it.each([
      ['update', `update audit_entries set action = 'other' where action = 'fixed'`],
      ['another address', `update audit_entries set address = '192.0.2.1' where action = 'fixed'`],
      ['delete', `delete from audit_entries where action = 'fixed'`],
      ['truncate', 'truncate audit_entries'],
    ])('refuses %s', async (_what, sql) => {
      await appendAudit(database.pool, null, KEY, { action: 'fixed', ...NOTHING });
      await expect(database.pool.query(sql)).rejects.toThrow('append-only');
    });

    it('allows to erase an address, once', async () => {
      const erase = `update audit_entries set address = '(erased)' where action = 'erased'`;
      await appendAudit(database.pool, null, KEY, { action: 'erased', ...NOTHING });
      await database.pool.query(erase);
      expect(await entriesOf('erased')).toMatchObject([{ address: '(erased)' }]);
      await expect(
        database.pool.query(`update audit_entries set address = 'x' where action = 'erased'`),
      ).rejects.toThrow('append-only');
    });
  });
});
