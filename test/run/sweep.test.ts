import { expect, test, vi } from 'vitest';
import { sweep } from '../../src/run/sweep.ts';
import { useService } from '../support/service.ts';

const app = useService();

test('a failed removal does not stop the others', async () => {
  const { db } = app.service.deps;
  const warn = vi.fn();
  const statements: string[] = [];
  const failing = {
    query: async (text: string, values: unknown[]) => {
      statements.push(text);
      if (text.includes('from admissions')) throw new Error('too slow');
      return db.query(text, values);
    },
  };
  await sweep({ db: failing as unknown as typeof db, log: { warn } as never });
  expect(warn.mock.calls).toStrictEqual([[{ err: expect.any(Error) }, 'old admissions were not removed']]);
  for (const table of ['participants', 'admissions', 'events', 'idempotency_keys', 'bans']) {
    expect(statements.some((text) => text.includes(` ${table}`))).toBe(true);
  }
});
