import { describe, expect, test } from 'vitest';
import type { Row } from '../../../../faults/check/database.ts';
import type { Claims, Entry } from '../../../../faults/check/journal.ts';
import { ACCESS_RULES } from '../../../../faults/check/rules/access.ts';
import { entry, judge, REFUSED } from '../entries.ts';

interface Case {
  readonly rule: string;
  readonly right: readonly Entry[];
  readonly wrong: readonly Entry[];
  readonly says: string;
  /** What the database answers. */
  readonly rows?: readonly Row[];
}

const KEY = { key: 'backend', id: 'old' };
const IN = { key: 'backend', room: 'stage', username: 'ann' };
const POSTGRES_CLOCK = 'the clock of PostgreSQL is wrong';
const DEVICE = { ...IN, device: 'thumbprint' };
const erased = (times: readonly [number, number]) =>
  entry('erasure.request', IN, times, { answer: { id: 'er_1' } });
const binding = (jkt: string, more = {}) => ({ answer: { claims: { cnf: { jkt, ...more } }, signed: true } });
const token = (rid: string, ep: number) => ({ answer: { claims: { rid, ep } } });
/** The claims of a token that says what was asked for, and more. */
const saying = (more: Claims) => ({
  answer: {
    claims: {
      tid: 't_0123456789abcdef',
      room: 'stage',
      sub: 'ann',
      key: 'backend',
      iat: 0,
      exp: 600,
      ...more,
    },
  },
});
const SIGNED_UP = entry('signup', {}, [0, 1], { answer: { tenant: 't_0123456789abcdef' } });
const ended = entry('room.end', IN, [20, 30], { answer: { room: { uid: 'rm_1' } } });

const CASES: readonly Case[] = [
  {
    rule: 'a revoked key is refused',
    right: [
      entry('key.revoke', KEY, [10, 20]),
      entry('key.use', { key: 'old' }, [15, 30]),
      entry('key.use', { key: 'old' }, [21, 30], REFUSED),
    ],
    wrong: [entry('key.revoke', KEY, [10, 20]), entry('key.use', { key: 'old' }, [21, 30])],
    says: 'old of t_0123456789abcdef was revoked; key.use began 1 us after it',
  },
  {
    rule: 'a revoked key is refused',
    right: [
      entry('key.revoke', KEY, [10, null]),
      entry('usage.report', { key: 'old', records: [] }, [21, 30]),
    ],
    wrong: [entry('key.revoke', KEY, [10, 20]), entry('usage.report', { key: 'old', records: [] }, [21, 30])],
    says: 'old of t_0123456789abcdef was revoked; usage.report began 1 us after it',
  },
  {
    rule: 'a revoked key is refused',
    right: [
      entry('credential.revoke', KEY, [10, 20]),
      entry('join', { ...IN, key: 'old' }, [21, 30], { outcome: 'refused', status: 401 }),
    ],
    // It was looked for only after the credential was accepted.
    wrong: [
      entry('credential.revoke', KEY, [10, 20]),
      entry('join', { ...IN, key: 'old' }, [21, 30], { outcome: 'refused', status: 404 }),
    ],
    says: 'old of t_0123456789abcdef was revoked; join began 1 us after it',
  },
  {
    // By gRPC: another refusal says that the key was accepted.
    rule: 'a revoked key is refused',
    right: [
      entry('key.revoke', KEY, [10, 20]),
      entry('key.use', { key: 'old' }, [21, 30], { outcome: 'refused', status: 16 }),
    ],
    wrong: [
      entry('key.revoke', KEY, [10, 20]),
      entry('key.use', { key: 'old' }, [21, 30], { outcome: 'refused', status: 7 }),
    ],
    says: 'old of t_0123456789abcdef was revoked; key.use began 1 us after it',
  },
  {
    rule: 'a replaced key is refused once its overlap is over',
    right: [
      entry('key.rotate', { ...KEY, overlap_seconds: 1 }, [10, 20]),
      entry('key.use', { key: 'old' }, [1_000_000, 1_000_010]),
      entry('key.use', { key: 'old' }, [1_000_030, 1_000_040], REFUSED),
    ],
    wrong: [
      entry('key.rotate', { ...KEY, overlap_seconds: 1 }, [10, 20]),
      entry('key.use', { key: 'old' }, [1_000_030, 1_000_040]),
    ],
    says: 'old of t_0123456789abcdef had retired; key.use began 10 us after it',
  },
  {
    // For as long as the clock was ahead when the key was replaced, and no longer.
    rule: 'a replaced key is refused once its overlap is over',
    right: [
      entry('fault', { name: POSTGRES_CLOCK, begunUs: 5, shiftMs: 2_000 }, [50, 50]),
      entry('key.rotate', { ...KEY, overlap_seconds: 0 }, [10, 20]),
      entry('key.use', { key: 'old' }, [2_000_000, 2_000_010]),
    ],
    wrong: [
      entry('fault', { name: POSTGRES_CLOCK, begunUs: 5, shiftMs: 2_000 }, [50, 50]),
      entry('key.rotate', { ...KEY, overlap_seconds: 0 }, [10, 20]),
      entry('key.use', { key: 'old' }, [2_000_030, 2_000_040]),
    ],
    says: 'old of t_0123456789abcdef had retired; key.use began 2000010 us after it',
  },
  {
    // A clock that is behind lets a key work, and one that is ahead ends it early.
    rule: 'a replaced key is refused once its overlap is over',
    right: [
      entry('key.rotate', { ...KEY, overlap_seconds: 0 }, [10, 20]),
      entry('fault', { name: POSTGRES_CLOCK, begunUs: 25, shiftMs: -1_000 }, [50, 50]),
      entry('key.use', { key: 'old' }, [30, 40]),
    ],
    wrong: [
      entry('key.rotate', { ...KEY, overlap_seconds: 0 }, [10, 20]),
      entry('fault', { name: POSTGRES_CLOCK, begunUs: 25, shiftMs: 1_000 }, [50, 50]),
      entry('fault', { name: 'the clock of a service is wrong', begunUs: 5, shiftMs: -9_000 }, [50, 50]),
      entry('key.use', { key: 'old' }, [30, 40]),
    ],
    says: 'old of t_0123456789abcdef had retired; key.use began 10 us after it',
  },
  {
    rule: 'a key that works is not refused',
    right: [
      entry('key.create', { key: 'backend' }, [0, 5], { answer: { key: { id: 'old' } } }),
      entry('key.use', { key: 'old' }, [6, 9]),
      entry('key.revoke', KEY, [10, null]),
      entry('key.use', { key: 'old' }, [12, 14], REFUSED),
    ],
    wrong: [
      entry('key.create', { key: 'backend' }, [0, 5], { answer: { key: { id: 'old' } } }),
      entry('key.use', { key: 'old' }, [6, 9], REFUSED),
      entry('key.revoke', KEY, [10, null]),
    ],
    says: 'old of t_0123456789abcdef works, and key.use was refused',
  },
  {
    rule: 'a session that ended is refused',
    right: [
      entry('session.log_out', { session: 's1' }, [10, 20]),
      entry('session.use', { session: 's1' }, [15, 30]),
      entry('session.use', { session: 's1' }, [21, 30], { outcome: 'refused', status: 303 }),
    ],
    wrong: [
      entry('session.log_out', { session: 's1' }, [10, 20]),
      entry('session.use', { session: 's1' }, [21, 30]),
    ],
    says: 's1 of t_0123456789abcdef ended; session.use began 1 us after it',
  },
  {
    rule: 'a session that ended is refused',
    right: [
      entry('session.log_in', { session: 's1', key: 'other' }, [0, 5]),
      entry('key.revoke', KEY, [10, 20]),
      entry('session.use', { session: 's1' }, [21, 30]),
    ],
    wrong: [
      entry('session.log_in', { session: 's1', key: 'old' }, [0, 5]),
      entry('key.revoke', KEY, [10, 20]),
      entry('session.use', { session: 's1' }, [21, 30]),
    ],
    says: 's1 of t_0123456789abcdef ended; session.use began 1 us after it',
  },
  {
    rule: 'a room that ended admits no one',
    right: [
      ended,
      entry('mint', IN, [31, 40], { outcome: 'refused', status: 9 }),
      entry('room.create', IN, [41, null]),
      entry('mint', IN, [42, 50], token('rm_2', 0)),
    ],
    wrong: [ended, entry('mint', IN, [31, 40], token('rm_2', 0))],
    says: 'stage of t_0123456789abcdef ended; mint began 1 us after it',
  },
  {
    rule: 'a room that ended admits no one',
    right: [ended, entry('room.create', IN, [35, 36]), entry('join', IN, [41, 50], token('rm_2', 0))],
    wrong: [ended, entry('room.create', IN, [35, 36]), entry('join', IN, [41, 50], token('rm_1', 0))],
    says: 'stage of t_0123456789abcdef ended; join began 11 us after it',
  },
  {
    // The try that had the effect got no answer; what came between it and its repetition came after it.
    rule: 'a room that ended admits no one',
    right: [
      entry('room.end', { ...IN, idempotency: 'a' }, [10, null]),
      entry('room.create', IN, [12, 14]),
      entry('room.end', { ...IN, idempotency: 'a' }, [20, 30], { answer: { room: { uid: 'rm_1' } } }),
      entry('mint', IN, [41, 50], token('rm_2', 0)),
    ],
    wrong: [
      entry('room.create', { ...IN, idempotency: 'b' }, [0, null]),
      entry('room.create', { ...IN, idempotency: 'b' }, [2, 4]),
      entry('room.end', IN, [20, 30]),
      entry('mint', IN, [41, 50], token('rm_2', 0)),
    ],
    says: 'stage of t_0123456789abcdef ended; mint began 11 us after it',
  },
  {
    rule: 'a banned user is not admitted',
    right: [
      entry('erasure.request', { ...IN, username: 'eve' }, [1, 2]),
      entry('ban', { ...IN, username: 'eve' }, [10, 20]),
      entry('mint', { ...IN, username: 'eve' }, [21, 30]),
      entry('ban', IN, [10, 20]),
      entry('mint', IN, [15, 30]),
      entry('mint', { ...IN, username: 'bob' }, [21, 30]),
      entry('mint', IN, [31, null]),
      entry('unban', IN, [31, null]),
      entry('mint', IN, [32, 40]),
    ],
    wrong: [entry('ban', IN, [10, 20]), entry('mint', IN, [21, 30], token('rm_1', 0))],
    says: 'ann of t_0123456789abcdef is banned from stage; mint began 1 us after it',
  },
  {
    // A ban holds for the name of the room.
    rule: 'a banned user is not admitted',
    right: [
      entry('ban', { ...IN, idempotency: 'a' }, [10, null]),
      entry('unban', IN, [12, 14]),
      entry('ban', { ...IN, idempotency: 'a' }, [20, 30]),
      entry('mint', IN, [31, 40], token('rm_2', 0)),
    ],
    wrong: [
      // It was answered when it was repeated, before the ban.
      entry('unban', { ...IN, idempotency: 'a' }, [1, null]),
      entry('unban', { ...IN, idempotency: 'a' }, [3, 5]),
      entry('ban', IN, [10, 20], { answer: { room: { uid: 'rm_1' } } }),
      entry('mint', IN, [21, 30], token('rm_2', 0)),
    ],
    says: 'ann of t_0123456789abcdef is banned from stage; mint began 1 us after it',
  },
  {
    // It took five seconds until the erasure was done, which ended the ban.
    rule: 'a banned user is not admitted',
    rows: [{ id: 'er_1', seconds: '5' }],
    right: [
      erased([1, 10]),
      entry('ban', IN, [5_000_000, 5_000_020]),
      entry('mint', IN, [6_000_000, 6_000_010]),
    ],
    wrong: [
      erased([1, 10]),
      entry('ban', IN, [5_000_020, 5_000_030]),
      entry('mint', IN, [6_000_000, 6_000_010]),
    ],
    says: 'ann of t_0123456789abcdef is banned from stage; mint began 999970 us after it',
  },
  {
    rule: 'a banned user is not admitted',
    rows: [{ id: 'er_1', seconds: '5' }],
    right: [entry('ban', IN, [10, 20]), erased([30, 40]), entry('mint', IN, [50, 60])],
    wrong: [
      entry('ban', IN, [10, 20]),
      entry('erasure.request', IN, [30, 40], { outcome: 'refused', status: 409 }),
      entry('mint', IN, [50, 60]),
    ],
    says: 'ann of t_0123456789abcdef is banned from stage; mint began 30 us after it',
  },
  {
    // The name of the user does not count, nor does an erasure.
    rule: 'a banned device is not admitted',
    right: [
      entry('ban.device', DEVICE, [10, 20]),
      entry('mint', { ...DEVICE, device: 'other' }, [21, 30]),
      entry('unban.device', DEVICE, [31, 40]),
      entry('mint', DEVICE, [41, 50]),
    ],
    wrong: [
      entry('erasure.request', IN, [1, 2]),
      entry('ban.device', DEVICE, [10, 20]),
      entry('mint', { ...DEVICE, username: 'bob' }, [21, 30]),
    ],
    says: 'thumbprint of t_0123456789abcdef is banned from stage; mint began 1 us after it',
  },
  ...(
    [
      ['mint', entry('mint', IN, [10, 20])],
      ['billing.read', entry('billing.read', {}, [10, 20], { answer: { admitted: true } })],
      ['usage.report', entry('usage.report', { records: [] }, [10, 20], { answer: { admitted: true } })],
    ] as const
  ).map(([op, admitted]) => ({
    rule: 'a tenant that never paid is not admitted',
    right: [SIGNED_UP, entry('checkout.paid', { session: 'cs', payment: 'pi' }, [5, 5]), admitted],
    wrong: [SIGNED_UP, admitted],
    says: `t_0123456789abcdef never paid, and its ${op} was admitted`,
  })),
  {
    rule: 'a token says what was asked for',
    right: [entry('mint', { ...IN, role: 'host' }, [1, 2], saying({ role: 'host' }))],
    wrong: [entry('mint', { ...IN, role: 'audience' }, [1, 2], saying({ role: 'host' }))],
    says: 'a mint of t_0123456789abcdef stage ann backend got the role host, and asked for audience',
  },
  {
    rule: 'a token says what was asked for',
    right: [
      entry('join', { ...IN, publish: ['audio'] }, [1, 2], saying({ cap: ['publish.audio', 'chat.send'] })),
    ],
    wrong: [
      entry(
        'join',
        { ...IN, publish: ['audio'] },
        [1, 2],
        saying({ cap: ['publish.audio', 'publish.video', 'moderate.kick'] }),
      ),
    ],
    says: 'a join of t_0123456789abcdef stage ann backend got publish.video and moderate.kick',
  },
  {
    rule: 'a token is signed, and bound to the device that asked',
    right: [entry('mint', DEVICE, [1, 2], binding('thumbprint'))],
    wrong: [entry('mint', DEVICE, [1, 2], binding('other'))],
    says: 'a mint of ann of t_0123456789abcdef is bound to {"jkt":"other"}, and not {"jkt":"thumbprint"}',
  },
  {
    rule: 'a token is signed, and bound to the device that asked',
    right: [entry('mint', DEVICE, [1, 2], binding('thumbprint'))],
    wrong: [entry('mint', DEVICE, [1, 2], binding('thumbprint', { 'x5t#S256': 'a' }))],
    says: 'a mint of ann of t_0123456789abcdef is bound to {"jkt":"thumbprint","x5t#S256":"a"}, and not {"jkt":"thumbprint"}',
  },
  {
    rule: 'a token is signed, and bound to the device that asked',
    right: [entry('mint', IN, [1, 2], { answer: { signed: true } })],
    wrong: [entry('mint', IN, [1, 2], { answer: { signed: false } })],
    says: 'a mint of ann of t_0123456789abcdef is signed by no key that is published',
  },
  {
    rule: 'a token from after a kick has a later epoch',
    right: [
      entry('mint', IN, [0, 5], token('rm_1', 3)),
      entry('kick', IN, [10, 20]),
      entry('mint', IN, [15, 30], token('rm_1', 3)),
      entry('mint', IN, [21, 30], token('rm_1', 4)),
      entry('mint', IN, [21, 30], token('rm_2', 0)),
    ],
    wrong: [
      entry('mint', IN, [0, 5], token('rm_1', 3)),
      entry('kick', IN, [10, 20]),
      entry('mint', IN, [21, 30], token('rm_1', 3)),
    ],
    says: 'ann of t_0123456789abcdef has the epoch 3 as before the kick',
  },
  {
    rule: 'a token from after a kick has a later epoch',
    right: [
      entry('kick', { ...IN, idempotency: 'a' }, [10, null]),
      entry('mint', IN, [15, 18], token('rm_1', 4)),
      entry('kick', { ...IN, idempotency: 'a' }, [20, 30]),
      entry('mint', IN, [31, 40], token('rm_1', 4)),
    ],
    wrong: [
      entry('mint', IN, [0, 5], token('rm_1', 4)),
      entry('kick', { ...IN, idempotency: 'a' }, [10, null]),
      entry('kick', { ...IN, idempotency: 'a' }, [20, 30]),
      entry('mint', IN, [31, 40], token('rm_1', 4)),
    ],
    says: 'ann of t_0123456789abcdef has the epoch 4 as before the kick',
  },
  {
    rule: 'a token from after a kick has a later epoch',
    right: [
      // The credential of the first token was revoked before the ban, and the second token was over.
      entry('join', { ...IN, key: 'device' }, [0, 5], {
        answer: { claims: { rid: 'rm_1', ep: 0, key: 'device', iat: 0, exp: 60 } },
      }),
      entry('mint', IN, [0, 5], {
        answer: { claims: { rid: 'rm_1', ep: 0, key: 'backend', iat: 0, exp: 1 } },
      }),
      entry('credential.revoke', { ...KEY, id: 'device' }, [6, 9]),
      entry('ban', IN, [2e6, 2e6 + 1]),
      entry('unban', IN, [3e6, 3e6 + 1]),
      entry('mint', IN, [4e6, 4e6 + 1], token('rm_1', 0)),
    ],
    wrong: [
      entry('join', { ...IN, key: 'device' }, [0, 5], {
        answer: { claims: { rid: 'rm_1', ep: 0, key: 'device', iat: 0, exp: 60 } },
      }),
      entry('credential.revoke', { ...KEY, id: 'other' }, [6, 9]),
      entry('ban', IN, [2e6, 2e6 + 1]),
      entry('unban', IN, [3e6, 3e6 + 1]),
      entry('mint', IN, [4e6, 4e6 + 1], token('rm_1', 0)),
    ],
    says: 'ann of t_0123456789abcdef has the epoch 0 as before the ban',
  },
  {
    rule: 'a key is replaced once',
    right: [
      entry('key.rotate', { ...KEY, idempotency: 'a' }, [10, 20]),
      entry('key.rotate', { ...KEY, idempotency: 'a' }, [30, 40]),
      entry('key.rotate', { ...KEY, idempotency: 'b' }, [15, 25], { outcome: 'refused', status: 409 }),
    ],
    wrong: [
      entry('key.rotate', { ...KEY, idempotency: 'a' }, [10, 20]),
      entry('key.rotate', { ...KEY, idempotency: 'b' }, [15, 25]),
    ],
    says: 'old of t_0123456789abcdef was replaced 2 times',
  },
];

describe.each(CASES)('$rule: $says', ({ rule, right, wrong, says, rows }) => {
  const rules = ACCESS_RULES.filter(({ name }) => name === rule);

  test('is found', async () => {
    expect((await judge(rules, wrong, rows)).problems).toEqual([`${rule}: ${says}`]);
  });

  test('is not found where it is right', async () => {
    expect((await judge(rules, right, rows)).problems).toEqual([]);
  });
});
