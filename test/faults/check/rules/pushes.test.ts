import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../../faults/check/facts.ts';
import type { Answer, Entry } from '../../../../faults/check/journal.ts';
import { runRules } from '../../../../faults/check/rule.ts';
import { PUSH_RULES } from '../../../../faults/check/rules/pushes.ts';
import { entry, factsOf } from '../entries.ts';

const IN = { key: 'backend', room: 'stage', username: 'ann' };
/** The examples of the documents: `epoch`, `room_6f2d1c0e`, `ann`, and `room` of it. */
const USER = 'xuJbc9CvnTfXK-3YRC-N_Q';
const ROOM = 'wiBXfhF-lBVVWX9ZkVNPDg';
const [TIMES, ORDER, NUMBERS] = PUSH_RULES.map(({ name }) => name) as [string, string, string];
const SECOND = 1_000_000;

const token = entry('mint', IN, [0, 5], {
  answer: { claims: { rid: 'room_6f2d1c0e', sub: 'ann', ep: 2, iat: 1_000, exp: 1_900 } },
});
const kick = entry('kick', IN, [10, 20]);
const told = (at: number, seq: number, rest: Answer = {}, stream = 0) =>
  entry('revocations.told', { stream }, [at, at], { answer: { seq, told: [], gone: [], ...rest } });
const ofKick = { told: [[USER, 3]] } satisfies Answer;
const ended = (at: number, stream = 0) => entry('revocations.follow', { stream }, [5, at]);
const fault = (begunUs: number, at: number, detail: string) =>
  entry('fault', { name: 'something fails', begunUs, detail }, [at, at]);
const settled = entry('settled', {}, [60 * SECOND, 60 * SECOND]);

/** `log`: the events of a database that is not there. */
async function judge(entries: readonly Entry[], log: readonly object[] = []) {
  const facts = await factsOf(entries);
  const logs = Promise.resolve(new Map([['t_0123456789abcdef', log]]));
  Object.defineProperty(facts, 'logs', { value: logs });
  return runRules(PUSH_RULES, facts as Facts);
}

describe('a relay with a stream', () => {
  test.each([
    ['before the answer', [told(6, 1), token, told(15, 2, ofKick), kick, settled]],
    ['in time', [told(6, 1), token, kick, told(2.9 * SECOND, 2, ofKick), settled]],
    [
      'in time after the last fault',
      [
        ...[told(6, 1), token, kick, fault(2 * SECOND, 4 * SECOND, 'server')],
        ...[fault(6 * SECOND, 7 * SECOND, 'connections'), told(9 * SECOND, 2, ofKick), settled],
      ],
    ],
    [
      'in time after the last answer that took long',
      [
        ...[told(6, 1), token, kick, entry('billing.read', {}, [2 * SECOND, 4 * SECOND])],
        ...[told(6 * SECOND, 2, ofKick), settled],
      ],
    ],
  ] satisfies [string, Entry[]][])('is told %s', async (_when, entries) => {
    const { problems, looked } = await judge(entries);
    expect(problems).toEqual([]);
    expect(looked[TIMES]).toBe(1);
  });

  test.each([
    ['too late', [told(6, 1), token, kick, told(3.1 * SECOND, 2, ofKick), settled]],
    ['another epoch', [told(6, 1), token, kick, told(30, 2, { told: [[USER, 2]] }), settled]],
    ['nothing', [told(6, 1), token, kick, settled]],
    [
      'too late, and a fault was elsewhere',
      [
        ...[told(6, 1), token, kick, fault(2 * SECOND, 3 * SECOND, 'receivers')],
        ...[told(3.1 * SECOND, 2, ofKick), settled],
      ],
    ],
    [
      'that it is over',
      [told(6, 1), token, kick, told(30, 2, ofKick), told(40, 3, { gone: [USER] }), settled],
    ],
  ] satisfies [string, Entry[]][])('is found that is told %s', async (_what, entries) => {
    const { problems } = await judge(entries);
    expect(problems).toEqual([
      `${TIMES}: a token of ann in stage of t_0123456789abcdef is not void after a kick, for a relay with a stream`,
    ]);
  });

  test.each([
    ['whose stream began after the answer', [token, kick, told(30, 1), settled]],
    ['whose stream ended before', [told(6, 1), token, kick, ended(2 * SECOND), settled]],
  ] satisfies [string, Entry[]][])('is not looked at: one %s', async (_which, entries) => {
    const { problems, looked } = await judge(entries);
    expect(problems).toEqual([]);
    expect(looked[TIMES]).toBe(0);
  });
});

test('numbers that go back are found, from one stream to the next one, too', async () => {
  const { problems, looked } = await judge([told(6, 4), told(7, 4), told(8, 6), told(9, 5, {}, 1)]);
  expect(problems).toEqual([`${ORDER}: 5 of t_0123456789abcdef came after 6`]);
  expect(looked[ORDER]).toBe(4);
});

describe('what ended up to a number', () => {
  const log = [{ seq: 3, type: 'room_ended', roomUid: 'room_6f2d1c0e', subject: {} }];
  const read = (at: number, seq: number, closed: readonly string[]) =>
    entry('revocations.read', {}, [at, at + 1], { answer: { seq, closed, epochs: [], credentials: [] } });
  const push = (at: number, seq: number) => told(at, seq, { told: [[ROOM, 0]] });

  test.each([
    ['told', [told(6, 2), read(7, 2, []), push(8, 3), told(9, 4), read(10, 3, [ROOM])]],
    ['told before it has its number', [push(6, 2), read(7, 2, [])]],
    ['no longer told when it is old', [push(8, 3), told(841 * SECOND, 4, { gone: [ROOM] })]],
  ] satisfies [string, Entry[]][])('is %s', async (_what, entries) => {
    expect((await judge(entries, log)).problems).toEqual([]);
  });

  test.each([
    ['a push', [told(6, 2), told(8, 3)], 3],
    ['a push that leaves out its number', [told(6, 2), told(8, 7)], 7],
    ['a snapshot of a number that was pushed', [push(6, 3), read(7, 3, [])], 3],
  ] satisfies [string, Entry[], number][])('is missed in %s', async (_what, entries, seq) => {
    expect((await judge(entries, log)).problems).toEqual([
      `${NUMBERS}: room_6f2d1c0e of t_0123456789abcdef ended by 3, and is not told by ${seq}`,
    ]);
  });
});
