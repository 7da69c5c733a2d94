import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Gather, type GatherOptions } from '../../../src/base/db/gather.ts';
import { Lane } from '../../../src/base/db/lane.ts';

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

/** The database refuses the statement: `lock_not_available`. */
const lockTimeout = () => Object.assign(new pg.DatabaseError('locked', 0, 'error'), { code: '55P03' });

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
    expect(sent().slice(1)).toStrictEqual([['a']]);
    statements[1]!.end();
    await endOfTurn();
    expect(sent().slice(2)).toStrictEqual([['b']]);
    statements[2]!.fail(refusal());
    expect(await answers).toMatchObject([{ value: 'A' }, { reason: { code: '42601' } }]);
  });

  test('of one key that the database refuses is sent again for each of its questions', async () => {
    const { gather, statements, sent } = open({ keyOf: (word) => word[0]! });
    const answers = Promise.allSettled(['a1', 'a2', 'b'].map((word) => gather.ask(word)));
    for (const [at, isRefused] of [true, true, false, true, false].entries()) {
      await endOfTurn();
      if (isRefused) statements[at]!.fail(refusal());
      else statements[at]!.end();
    }
    expect(sent()).toStrictEqual([['a1', 'a2', 'b'], ['a1', 'a2'], ['a1'], ['a2'], ['b']]);
    expect(await answers).toMatchObject([{ value: 'A1' }, { reason: { code: '42601' } }, { value: 'B' }]);
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

describe('what waits for a lock', () => {
  const keyOf = (word: string) => word[0]!;

  test('is asked again in one lane, key after key, and later questions of a key that waits join it', async () => {
    const { gather, statements, sent } = open({ keyOf });
    const answers = Promise.all(['a1', 'b1', 'a2', 'c1'].map((word) => gather.ask(word)));
    await endOfTurn();
    statements[0]!.fail(lockTimeout());
    await endOfTurn();
    const later = Promise.all(['a3', 'd1'].map((word) => gather.ask(word)));
    await endOfTurn();
    expect(sent().slice(1)).toStrictEqual([['a1', 'a2'], ['d1']]);
    statements[2]!.end();
    statements[1]!.fail(lockTimeout());
    for (const at of [3, 4, 5]) {
      await endOfTurn();
      expect(statements).toHaveLength(at + 1);
      statements[at]!.end();
    }
    expect(sent().slice(3)).toStrictEqual([['b1'], ['c1'], ['a1', 'a2', 'a3']]);
    expect(await answers).toStrictEqual(['A1', 'B1', 'A2', 'C1']);
    expect(await later).toStrictEqual(['A3', 'D1']);
    void gather.ask('a4');
    await endOfTurn();
    expect(sent().slice(6)).toStrictEqual([['a4']]);
  });

  test('lets a key that only shared its statement leave the lane with its first answer', async () => {
    const { gather, statements, sent } = open({ keyOf });
    const first = gather.ask('a1').catch((error: unknown) => error);
    const answers = [gather.ask('b1')];
    await endOfTurn();
    statements[0]!.fail(lockTimeout());
    await endOfTurn();
    statements[1]!.fail(lockTimeout());
    await endOfTurn();
    expect(sent().slice(1)).toStrictEqual([['a1'], ['b1']]);
    answers.push(gather.ask('b2'));
    statements[2]!.end();
    await endOfTurn();
    // 'b2' does not wait for 'a1'.
    expect(sent().slice(3)).toStrictEqual([['b2'], ['a1']]);
    statements[3]!.end();
    expect(await Promise.all(answers)).toStrictEqual(['B1', 'B2']);
    statements[4]!.end();
    expect(await first).toBe('A1');
  });

  test('is found in parts, so that few statements answer the others', async () => {
    const locked = 'w77';
    const asked: (readonly string[])[] = [];
    const gather = new Gather<string, string>(
      async (words) => {
        asked.push(words);
        if (words.includes(locked)) throw lockTimeout();
        return words;
      },
      { keyOf: (word) => word },
    );
    const words = Array.from({ length: 512 }, (_, at) => `w${at}`);
    const answers = words.map((word) => gather.ask(word));
    const last = answers[77]!.catch((error: unknown) => error);
    const others = answers.filter((_, at) => at !== 77);
    expect(await Promise.all(others)).toStrictEqual(words.filter((word) => word !== locked));
    const shared = asked.filter((each) => each.length > 1 || each[0] !== locked);
    expect(shared.length).toBeLessThanOrEqual(1 + 3 * 8);
    expect(await last).toMatchObject({ code: '55P03' });
  });

  test('is asked again one at a time where two of a name never share a statement', async () => {
    const { gather, statements, sent } = open({ nameOf: keyOf });
    const answers = Promise.all(['a1', 'b1'].map((word) => gather.ask(word)));
    await endOfTurn();
    statements[0]!.fail(lockTimeout());
    await endOfTurn();
    const later = gather.ask('a2');
    for (const at of [1, 2, 3]) {
      await endOfTurn();
      statements[at]!.end();
    }
    expect(sent().slice(1)).toStrictEqual([['a1'], ['a2'], ['b1']]);
    expect([await answers, await later]).toStrictEqual([['A1', 'B1'], 'A2']);
  });

  test('fails after a second, and nothing else does', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { gather, statements } = open({ keyOf });
    const locked = gather.ask('a1').catch((error: unknown) => error);
    const other = gather.ask('b1');
    await endOfTurn();
    statements[0]!.fail(lockTimeout());
    await endOfTurn();
    vi.advanceTimersByTime(990);
    const later = gather.ask('a2');
    statements[1]!.fail(lockTimeout());
    await endOfTurn();
    vi.advanceTimersByTime(10);
    statements[2]!.end();
    await endOfTurn();
    statements[3]!.fail(lockTimeout());
    expect(await locked).toMatchObject({ code: '55P03' });
    expect(await other).toBe('B1');
    await endOfTurn();
    statements[4]!.end();
    expect(await later).toBe('A2');
  });

  test('goes into the lane at once for ten seconds after it failed, if it is asked for again', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const { gather, statements, sent } = open({ keyOf });
    gather.ask('a1').catch(() => undefined);
    await endOfTurn();
    vi.advanceTimersByTime(1_000);
    statements[0]!.fail(lockTimeout());
    gather.ask('a2').catch(() => undefined);
    await endOfTurn();
    statements[1]!.fail(lockTimeout());
    await endOfTurn();
    vi.advanceTimersByTime(1_000);
    statements[2]!.fail(lockTimeout());
    await endOfTurn();
    vi.advanceTimersByTime(9_000);
    for (const word of ['a3', 'b1']) gather.ask(word).catch(() => undefined);
    await endOfTurn();
    expect(sent().slice(3)).toStrictEqual([['a3'], ['b1']]);
    vi.advanceTimersByTime(1_000);
    statements[3]!.fail(lockTimeout());
    statements[4]!.end();
    await endOfTurn();
    vi.advanceTimersByTime(10_000);
    for (const word of ['a4', 'b2']) void gather.ask(word);
    await endOfTurn();
    expect(sent().slice(5)).toStrictEqual([['a4', 'b2']]);
  });

  test('holds one statement of all who share the lane', async () => {
    const lane = new Lane();
    const [one, other] = [open({ lane }), open({ lane })];
    for (const { gather } of [one, other]) gather.ask('a').catch(() => undefined);
    await endOfTurn();
    for (const { statements } of [one, other]) statements[0]!.fail(lockTimeout());
    await endOfTurn();
    expect([one.statements.length, other.statements.length]).toEqual([2, 1]);
    one.statements[1]!.fail(new Error('connection lost'));
    await endOfTurn();
    expect([one.statements.length, other.statements.length]).toEqual([2, 2]);
  });
});
