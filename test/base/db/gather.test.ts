import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Gather, type GatherOptions } from '../../../src/base/db/gather.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A gather whose statements the test ends. Questions are words, answers the same words in capitals. */
function open(options?: GatherOptions<string>) {
  const statements: { words: readonly string[]; end: () => void; fail: (error: unknown) => void }[] = [];
  const gather = new Gather<string, string>((words) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    statements.push({ words, end: () => resolve(words.map((word) => word.toUpperCase())), fail: reject });
    return promise;
  }, options);
  return { gather, statements, sent: () => statements.map(({ words }) => words) };
}

const endOfTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
/** The database refuses the statement: `syntax_error`. */
const refusal = () => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code: '42601' });

describe('a question', () => {
  test('that comes alone is sent at once', async () => {
    const { gather, statements } = open();
    const answer = gather.ask('a');
    await Promise.resolve();
    expect(statements).toHaveLength(1);
    statements[0]!.end();
    expect(await answer).toBe('A');
  });

  test('shares a statement with those of the same turn, and each gets its own answer', async () => {
    const { gather, statements, sent } = open();
    const answers = ['a', 'b', 'a'].map((word) => gather.ask(word));
    await endOfTurn();
    expect(sent()).toStrictEqual([['a', 'b', 'a']]);
    statements[0]!.end();
    expect(await Promise.all(answers)).toStrictEqual(['A', 'B', 'A']);
  });

  test('waits while two statements are under way, and then goes with the others that wait', async () => {
    const { gather, statements, sent } = open();
    for (const word of ['a', 'b', 'c', 'd']) {
      void gather.ask(word);
      await endOfTurn();
    }
    expect(sent()).toStrictEqual([['a'], ['b']]);
    statements[1]!.end();
    await endOfTurn();
    expect(sent().slice(2)).toStrictEqual([['c', 'd']]);
  });

  test('is not in a statement that is full, nor in one that has its name', async () => {
    const { gather, sent } = open({ max: 2, nameOf: (word) => word[0]! });
    for (const word of ['a1', 'a2', 'b', 'c']) void gather.ask(word);
    await endOfTurn();
    expect(sent()).toStrictEqual([
      ['a1', 'b'],
      ['a2', 'c'],
    ]);
  });

  test('shares a statement with those of its group only', async () => {
    const { gather, sent } = open({ max: 2, groupOf: (word) => word[0], statements: 3 });
    for (const word of ['a1', 'b1', 'a2', 'a3', 'b2']) void gather.ask(word);
    await endOfTurn();
    await endOfTurn();
    expect(sent()).toStrictEqual([['a1', 'a2'], ['b1', 'b2'], ['a3']]);
  });

  test('does not wait for a statement that takes long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { gather, statements, sent } = open();
    for (const word of ['a', 'b', 'c']) {
      void gather.ask(word);
      await endOfTurn();
    }
    expect(sent()).toStrictEqual([['a'], ['b']]);
    vi.advanceTimersByTime(100);
    await endOfTurn();
    expect(sent()).toStrictEqual([['a'], ['b'], ['c']]);
    for (const { end } of statements) end();
    await endOfTurn();
    // Ending late, they leave room for two again, not for four.
    for (const word of ['d', 'e', 'f']) {
      void gather.ask(word);
      await endOfTurn();
    }
    expect(sent().slice(3)).toStrictEqual([['d'], ['e']]);
  });
});

describe('a statement', () => {
  test('that the database refuses is sent again for each of its questions', async () => {
    const { gather, statements, sent } = open();
    const answers = Promise.allSettled(['a', 'b'].map((word) => gather.ask(word)));
    await endOfTurn();
    statements[0]!.fail(refusal());
    await endOfTurn();
    expect(sent().slice(1)).toStrictEqual([['a'], ['b']]);
    statements[1]!.end();
    statements[2]!.fail(refusal());
    expect(await answers).toMatchObject([{ value: 'A' }, { reason: { code: '42601' } }]);
  });

  test('whose outcome is unknown fails all its questions, and no others', async () => {
    const { gather, statements } = open();
    const answers = Promise.allSettled(['a', 'b'].map((word) => gather.ask(word)));
    await endOfTurn();
    const later = gather.ask('c');
    await endOfTurn();
    statements[0]!.fail(new Error('connection lost'));
    statements[1]!.end();
    expect(await answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(await later).toBe('C');
    expect(statements).toHaveLength(2);
  });
});
