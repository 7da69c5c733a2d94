import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { sweep } from '../../src/run/sweep.ts';
import { useService } from '../support/service.ts';

const app = useService();

test('a failed removal does not stop the others', async () => {
  const { db } = app.service.deps;
  const warn = vi.fn();
  const texts: string[] = [];
  const failing = {
    query: async (statement: pg.QueryConfig | string, values?: unknown[]) => {
      const text = typeof statement === 'string' ? statement : statement.text;
      texts.push(text);
      if (text.includes(' bans')) throw new Error('too slow');
      return typeof statement === 'string' ? db.query(statement, values) : db.query(statement);
    },
  };
  await sweep({ db: failing as unknown as typeof db, log: { warn } as never });
  expect(warn.mock.calls).toStrictEqual([[{ err: expect.any(Error) }, 'old bans were not removed']]);
  for (const table of ['participants', 'rooms', 'events', 'idempotency_keys', 'bans', 'rate_limits']) {
    expect(texts.some((text) => text.includes(` ${table}`))).toBe(true);
  }
});
