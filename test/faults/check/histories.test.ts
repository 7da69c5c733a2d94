import { describe, expect, test } from 'vitest';
import type { Database } from '../../../faults/check/database.ts';
import { Facts } from '../../../faults/check/facts.ts';
import { budgetHistories, keyHistories, roomHistories } from '../../../faults/check/histories.ts';
import { type Entry, readJournal } from '../../../faults/check/journal.ts';
import { entry, factsOf, NO_READS, REFUSED } from './entries.ts';

const made = (id: string) => ({ answer: { key: { id } } });
/** As short texts: `create 0-5 ok`. */
const textsOf = (histories: ReturnType<typeof keyHistories>) =>
  Object.fromEntries(
    histories.map(({ object, ops }) => [
      object,
      ops.map(({ op, callUs, returnUs, outcome }) => `${op} ${callUs}-${returnUs} ${outcome}`),
    ]),
  );
const ofKeys = async (entries: readonly Entry[]) => textsOf(keyHistories(await factsOf(entries)));

describe('histories of keys', () => {
  test('have the uses of each key, and its changes', async () => {
    const histories = await ofKeys([
      entry('key.create', { key: 'first' }, [0, 5], made('a')),
      entry('key.use', { key: 'a' }, [6, 7]),
      entry('usage.report', { key: 'a', records: [] }, [8, 9]),
      entry('key.rotate', { key: 'first', id: 'a', overlap_seconds: 1 }, [10, 12], made('b')),
      entry('key.revoke', { key: 'b', id: 'a' }, [14, null]),
      entry('key.use', { key: 'a' }, [20, 21], REFUSED),
    ]);
    expect(histories).toEqual({
      a: [
        'create 0-5 ok',
        'use 6-7 ok',
        'use 8-9 ok',
        'rotate 10-12 ok',
        'revoke 14-null unknown',
        'use 20-21 refused',
      ],
      b: ['create 10-12 ok'],
    });
  });

  test('leave out what is not known to be refused for the key, and keys without a beginning', async () => {
    const histories = await ofKeys([
      entry('key.create', { key: 'first' }, [0, 5], made('a')),
      entry('key.use', { key: 'a' }, [6, 7], { outcome: 'refused', status: 429 }),
      entry('key.use', { key: 'a' }, [6, null]),
      entry('key.revoke', { key: 'a', id: 'first' }, [8, 9], { outcome: 'refused', status: 400 }),
    ]);
    expect(histories).toEqual({ a: ['create 0-5 ok'] });
  });

  test('have one operation for a change and its repetitions', async () => {
    const change = { key: 'first', id: 'a', idempotency: 'once' };
    const histories = await ofKeys([
      entry('key.create', { key: 'first' }, [0, 5], made('a')),
      entry('key.revoke', change, [10, null]),
      entry('key.revoke', change, [20, 25], { status: 500, outcome: 'unknown' }),
      entry('key.revoke', change, [30, 35]),
    ]);
    expect(histories).toEqual({ a: ['create 0-5 ok', 'revoke 10-35 ok'] });
  });

  test('do not hold a key that is replaced at once to a clock that was ahead then, or is behind afterwards', async () => {
    const replaced = async (begunUs: number, endedUs: number, shiftMs: number) => {
      const { a } = await ofKeys([
        entry('key.create', { key: 'first' }, [0, 5], made('a')),
        entry('key.rotate', { key: 'first', id: 'a', overlap_seconds: 0 }, [10e6, 10e6 + 1], made('b')),
        entry('key.use', { key: 'a' }, [11e6, 11e6 + 1]),
        entry('fault', { name: 'the clock of PostgreSQL is wrong', begunUs, shiftMs }, [endedUs, endedUs]),
      ]);
      return a![1]!.split(' ')[0];
    };
    expect(await replaced(11e6, 12e6, -1_000)).toBe('rotate');
    expect(await replaced(11e6, 12e6, 1_000)).toBe('retire');
    expect(await replaced(9e6, 10e6, 1_000)).toBe('rotate');
    expect(await replaced(5e6, 9e6, 1_000)).toBe('retire');
    expect(await replaced(20e6, 21e6, -1_000)).toBe('retire');
  });

  test('have uses by gRPC, where another refusal than that of the key is a use that works', async () => {
    const histories = await ofKeys([
      entry('key.create', { key: 'first' }, [0, 5], made('a')),
      entry('key.revoke', { key: 'first', id: 'a' }, [10, 12]),
      entry('key.use', { key: 'a' }, [20, 21], { outcome: 'refused', status: 16 }),
      entry('key.use', { key: 'a' }, [30, 31], { outcome: 'refused', status: 7 }),
      entry('key.use', { key: 'a' }, [40, 41], { status: 0 }),
    ]);
    expect(histories.a).toEqual([
      'create 0-5 ok',
      'revoke 10-12 ok',
      ...['use 20-21 refused', 'use 30-31 ok', 'use 40-41 ok'],
    ]);
  });

  test('that are long are cut: what had not ended may have taken effect', async () => {
    const uses = Array.from({ length: 2_500 }, (_, at) => entry('key.use', { key: 'a' }, [10 + at, 11 + at]));
    const [history] = keyHistories(
      await factsOf([
        entry('key.create', { key: 'first' }, [0, 5], made('a')),
        entry('key.rotate', { key: 'first', id: 'a', overlap_seconds: 5 }, [7, 90_000], made('b')),
        ...uses,
      ]),
    );
    expect(history!.ops.length).toBeLessThanOrEqual(2_000);
    expect(history!.ops).toContainEqual({
      op: 'rotate',
      outcome: 'unknown',
      client: 1,
      callUs: 7,
      returnUs: null,
    });
    expect(history!.ops.filter(({ op, outcome }) => op === 'use' && outcome !== 'ok')).toEqual([]);
  });
});

describe('histories of rooms', () => {
  const ofRooms = async (entries: readonly Entry[]) => {
    const noRows = { rows: async () => [] } as unknown as Database;
    return Object.values(
      textsOf(await roomHistories(new Facts(await readJournal(entries), noRows, NO_READS))),
    );
  };
  const join = entry('join', { room: 'r' }, [0, 6], { outcome: 'unknown', status: 503 });

  test('have a join without success that may have made the room, also if no other call ever succeeded', async () => {
    const exists = entry('room.create', { room: 'r' }, [1, 9], { outcome: 'refused', status: 6 });
    expect(await ofRooms([join, exists])).toEqual([['join 0-null unknown', 'create 1-9 refused']]);
  });

  test('have none that began after the room was there', async () => {
    const made = entry('room.create', { room: 'r' }, [1, 2], { answer: { room: { uid: 'u' } } });
    const later = { ...join, invokedUs: 3 };
    expect(await ofRooms([made, later])).toEqual([['create 1-2 ok']]);
  });
});

describe('histories of budgets', () => {
  test('are of those without usage, until their first token may end', async () => {
    const budget = 'still-1';
    const facts = await factsOf([
      entry('budget.set', { key: 'k', id: budget, limit_micros: 100 }, [0, 5]),
      entry('budget.set', { key: 'k', id: 'other', limit_micros: 100 }, [0, 5]),
      entry('mint', { key: 'k', budget, hold: 60 }, [6, 8]),
      entry('mint', { key: 'k', budget, hold: 60 }, [7, 9], {
        ...{
          outcome: 'refused',
          status: 9,
          answer: { error: `budget reached: ${budget} has too little left` },
        },
      }),
      entry('mint', { key: 'k', budget, hold: 60 }, [7, 9], {
        outcome: 'refused',
        answer: { error: 'no credit' },
      }),
      entry('budget.read', { key: 'k', id: budget }, [10, 12], { answer: { free: { micros: 40 } } }),
      entry('budget.read', { key: 'k', id: budget }, [600e6, 601e6], { answer: { free: { micros: 100 } } }),
    ]);
    const [history, ...others] = budgetHistories(facts);
    expect(others).toEqual([]);
    expect(history!.object).toMatch(/ still-1$/);
    expect(history!.ops.map(({ op, amount, outcome }) => `${op} ${amount} ${outcome}`)).toEqual([
      'create 100 ok',
      'hold 60 ok',
      'hold 60 refused',
      'read 40 ok',
    ]);
  });
});
