import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../../faults/check/journal.ts';
import { REVOCATION_RULES } from '../../../../faults/check/rules/revocations.ts';
import { entry, judge } from '../entries.ts';

const IN = { key: 'backend', room: 'stage', username: 'ann' };
/** The example of the documents: `epoch`, `room_6f2d1c0e`, `ann`. */
const USER = 'xuJbc9CvnTfXK-3YRC-N_Q';
const RULE = 'a snapshot of revocations voids each token that was ended before';

const NOTHING: Answer = { epochs: [], closed: [], credentials: [] };
const token = entry('mint', IN, [0, 5], {
  answer: { claims: { rid: 'room_6f2d1c0e', sub: 'ann', ep: 2, iat: 1_000, exp: 1_900 } },
});
const read = (invokedUs: number, answer: Answer) =>
  entry('revocations.read', {}, [invokedUs, invokedUs + 5], { answer });
const kick = entry('kick', IN, [10, 20]);

describe('a token of a user who was kicked', () => {
  test.each([
    [21, { ...NOTHING, epochs: [[USER, 3]] }],
    // The kick was under way.
    [19, NOTHING],
    // The token may have expired.
    [841_000_000, NOTHING],
  ] satisfies [number, Answer][])('is void in a snapshot of %i', async (at, snapshot) => {
    expect((await judge(REVOCATION_RULES, [token, kick, read(at, snapshot)])).problems).toEqual([]);
  });

  test.each([
    NOTHING,
    { ...NOTHING, epochs: [[USER, 2]] },
    { ...NOTHING, epochs: [['other', 3]] },
  ] satisfies Answer[])('is found if it is not: %j', async (snapshot) => {
    const { problems, looked } = await judge(REVOCATION_RULES, [token, kick, read(21, snapshot)]);
    expect(problems).toEqual([
      `${RULE}: a token of ann in stage of t_0123456789abcdef is not void after a kick`,
    ]);
    expect(looked[RULE]).toBe(1);
  });

  test('is another one if it was made before the repetition of a kick that had its effect', async () => {
    const tries = [entry('kick', { ...IN, idempotency: 'a' }, [1, null])];
    const answered = entry('kick', { ...IN, idempotency: 'a' }, [10, 20]);
    const all = [...tries, token, answered, read(30, NOTHING)];
    expect((await judge(REVOCATION_RULES, all)).problems).toEqual([]);
  });

  test('is another one after the kick', async () => {
    const later = { ...token, invokedUs: 21, returnedUs: 25 };
    expect((await judge(REVOCATION_RULES, [later, kick, read(30, NOTHING)])).problems).toEqual([]);
  });
});

test.each([
  [
    entry('room.end', IN, [10, 20], { answer: { room: { uid: 'room_6f2d1c0e' } } }),
    { closed: ['wiBXfhF-lBVVWX9ZkVNPDg'] },
  ],
  [
    entry('credential.revoke', { key: 'k', id: 'backend' }, [10, 20]),
    { credentials: ['8XjgilAQVy4zSwXFZzH52A'] },
  ],
])('a token of a room or a credential that ended is void, and found if not', async (ended, hashes) => {
  const { problems } = await judge(REVOCATION_RULES, [token, ended, read(21, NOTHING)]);
  expect(problems).toEqual([
    `${RULE}: a token of ann in stage of t_0123456789abcdef is not void after a ${ended.op}`,
  ]);
  const right = await judge(REVOCATION_RULES, [token, ended, read(21, { ...NOTHING, ...hashes })]);
  expect(right.problems).toEqual([]);
});
