import { isIPv4 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AdmissionRefused,
  checkRevocations,
  type Revocations,
} from '../../../sdk/typescript/src/relay/index.ts';
import { hashed, hashedRange, RANGE_SALT } from './support.ts';

const NOW_SECONDS = 1_800_000_000;
const tenant = 't_1';
const ann = {
  tenant,
  username: 'ann',
  roomUid: 'room_1',
  epoch: 3,
  deviceThumbprint: 'd'.repeat(43),
  rangeSalt: RANGE_SALT,
  mintedBy: '0123456789abcdef',
};
/** A ban of a range in all rooms. */
const rangeBan = (cidr: string): Revocations['bans'][number] => [
  '*',
  'range',
  hashedRange(RANGE_SALT, cidr),
  null,
];
const room1 = hashed('room', 'room_1');

function check(changes: Partial<Revocations>, address?: string): string[] | string {
  const revocations = {
    seq: 7,
    exp: NOW_SECONDS + 60,
    epochs: [],
    bans: [],
    mutes: [],
    closed: [],
    ...changes,
  };
  try {
    return checkRevocations(revocations, ann, { nowMs: NOW_SECONDS * 1000, address });
  } catch (error) {
    if (error instanceof AdmissionRefused) return error.code;
    throw error;
  }
}

test.each<[string, Partial<Revocations>, string[] | string]>([
  ['nothing', {}, []],
  ['a snapshot that ends now', { exp: NOW_SECONDS }, 'REVOCATIONS_STALE'],
  ['a closed room', { closed: [hashed('room', 'room_0'), hashed('room', 'room_1')] }, 'ROOM_CLOSED'],
  ['another closed room', { closed: [hashed('room', 'room_0')] }, []],
  ['a room in plain', { closed: ['room_1'] }, []],
  ['a kick', { epochs: [[hashed('epoch', 'room_1', 'ann'), 4]] }, 'TOKEN_REVOKED'],
  ['a kick before the token was minted', { epochs: [[hashed('epoch', 'room_1', 'ann'), 3]] }, []],
  ['a kick of another user', { epochs: [[hashed('epoch', 'room_1', 'bob'), 4]] }, []],
  ['a kick from another room', { epochs: [[hashed('epoch', 'room_2', 'ann'), 4]] }, []],
  ['a mute that is no kick', { epochs: [[hashed('mute', 'room_1', 'ann'), 4]] }, []],
  [
    'a revoked credential',
    { credentials: [hashed('credential', tenant, '0123456789abcdef')] },
    'TOKEN_REVOKED',
  ],
  ['another revoked credential', { credentials: [hashed('credential', tenant, '0'.repeat(16))] }, []],
  ['a credential of another tenant', { credentials: [hashed('credential', 't_2', '0123456789abcdef')] }, []],
  ['a ban of the user', { bans: [[room1, 'user', hashed('user', 'room_1', 'ann'), null]] }, 'BANNED'],
  ['a ban by the tenant', { bans: [['*', 'user', hashed('user', tenant, 'ann'), null]] }, 'BANNED'],
  ['a ban by another tenant', { bans: [['*', 'user', hashed('user', 't_2', 'ann'), null]] }, []],
  [
    'a ban from another room',
    { bans: [[hashed('room', 'room_2'), 'user', hashed('user', 'room_2', 'ann'), null]] },
    [],
  ],
  [
    'a name of the tenant, banned in the room',
    { bans: [[room1, 'user', hashed('user', tenant, 'ann'), null]] },
    [],
  ],
  [
    'a ban of the device',
    { bans: [['*', 'device', hashed('device', tenant, 'd'.repeat(43)), NOW_SECONDS + 1]] },
    'BANNED',
  ],
  [
    'a ban of the device in the room',
    { bans: [[room1, 'device', hashed('device', 'room_1', 'd'.repeat(43)), null]] },
    'BANNED',
  ],
  [
    'a ban of another device',
    { bans: [['*', 'device', hashed('device', tenant, 'e'.repeat(43)), null]] },
    [],
  ],
  ['a ban that has ended', { bans: [['*', 'user', hashed('user', tenant, 'ann'), NOW_SECONDS]] }, []],
  [
    'a device that is called like the user',
    { bans: [['*', 'device', hashed('user', tenant, 'ann'), null]] },
    [],
  ],
  [
    'a mute',
    {
      mutes: [
        [hashed('mute', 'room_1', 'ann'), 'audio', 'screen'],
        [hashed('mute', 'room_1', 'bob'), 'video'],
        [hashed('mute', 'room_2', 'ann'), 'data'],
      ],
    },
    ['audio', 'screen'],
  ],
])('%s', (_, revocations, outcome) => {
  expect(check(revocations)).toEqual(outcome);
});

describe('the reason of a refusal', () => {
  const reasonOf = (changes: Partial<Revocations>) => {
    const nothing = { seq: 7, exp: NOW_SECONDS + 60, epochs: [], bans: [], mutes: [], closed: [] };
    try {
      checkRevocations({ ...nothing, ...changes }, ann, { nowMs: NOW_SECONDS * 1000 });
    } catch (error) {
      const { code, reason } = error as AdmissionRefused;
      return `${code} ${reason}`;
    }
    throw new Error('not refused');
  };
  const user = hashed('epoch', 'room_1', 'ann');

  test.each(['kicked', 'banned', 'watchdog'])('of a user who was expelled: %s', (reason) => {
    const reasons = [[hashed('epoch', 'room_1', 'bob'), 'closed'] as const, [user, reason] as const];
    expect(reasonOf({ epochs: [[user, 4]], reasons })).toBe(`TOKEN_REVOKED ${reason}`);
  });

  test.each(['closed', 'ended', 'watchdog'])('of a room: %s', (reason) => {
    expect(reasonOf({ closed: [room1], reasons: [[room1, reason]] })).toBe(`ROOM_CLOSED ${reason}`);
  });

  test('is banned for a ban', () => {
    const bans = [['*', 'user', hashed('user', tenant, 'ann'), null]] as const;
    expect(reasonOf({ bans })).toBe('BANNED banned');
  });

  test('is undefined from an earlier service, and where a later one gives an unknown reason', () => {
    expect(reasonOf({ epochs: [[user, 4]] })).toBe('TOKEN_REVOKED undefined');
    expect(reasonOf({ closed: [room1], reasons: [] })).toBe('ROOM_CLOSED undefined');
    expect(reasonOf({ closed: [room1], reasons: [[room1, 'eclipse']] })).toBe('ROOM_CLOSED undefined');
    expect(reasonOf({ exp: NOW_SECONDS })).toBe('REVOCATIONS_STALE undefined');
  });
});

test('no snapshot at all refuses all participants', () => {
  const seen = { nowMs: NOW_SECONDS * 1000 };
  expect(() => checkRevocations(undefined, ann, seen)).toThrow(
    expect.objectContaining({ code: 'REVOCATIONS_STALE' }),
  );
});

describe('banned addresses', () => {
  test.each([
    ['192.0.2.7', '192.0.2.0/24', 'BANNED'],
    ['192.0.3.7', '192.0.2.0/24', []],
    ['::ffff:192.0.2.7', '192.0.2.0/24', 'BANNED'],
    ['192.0.2.7', '192.0.2.7/32', 'BANNED'],
    ['192.0.2.8', '192.0.2.7/32', []],
    ['2001:db8::1', '2001:db8::/32', 'BANNED'],
    ['2001:db9::1', '2001:db8::/32', []],
    ['2001:db8::1', '2001:db8::1/128', 'BANNED'],
    ['192.0.2.7', '2001:db8::/32', []],
    ['2001:db8::1', '192.0.2.0/24', []],
    [undefined, '192.0.2.0/24', 'ADDRESS_UNKNOWN'],
    ['', '192.0.2.0/24', 'ADDRESS_UNKNOWN'],
    ['fe80::1%eth0', '192.0.2.0/24', []],
    ['fe80::1%eth0', 'fe80::/64', 'BANNED'],
    ['::FFFF:C000:0207', '192.0.2.0/24', 'BANNED'],
    ['64:ff9b::192.0.2.7', '64:ff9b::/96', 'BANNED'],
    ['::192.0.2.7', '192.0.2.0/24', []],
    ['::', '::1/128', []],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::/112', 'BANNED'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0/128', 'BANNED'],
  ])('%s in %s', (address, cidr, outcome) => {
    expect(check({ bans: [rangeBan(cidr)] }, address)).toEqual(outcome);
  });

  test.each([
    ['this room', room1, 'room_1', 'BANNED'],
    ['this room, by the hash of another', room1, 'room_2', []],
    ['this room, by the hash of the tenant', room1, RANGE_SALT, []],
    ['another room', hashed('room', 'room_2'), 'room_2', []],
    ['all rooms, by the hash of a room', '*', 'room_1', []],
  ])('of %s', (_, room, secret, outcome) => {
    const value = hashedRange(secret, '192.0.2.0/24');
    expect(check({ bans: [[room, 'range', value, null]] }, '192.0.2.7')).toEqual(outcome);
  });

  test('that have ended require no address', () => {
    const [room, kind, value] = rangeBan('192.0.2.0/24');
    expect(check({ bans: [[room, kind, value, NOW_SECONDS]] })).toEqual([]);
  });

  test('of another room require no address', () => {
    expect(
      check({ bans: [[hashed('room', 'room_2'), 'range', hashedRange('room_2', '192.0.2.0/24'), null]] }),
    ).toEqual([]);
  });

  test('are those that share the first bits', () => {
    const ipv4 = fc.ipV4();
    fc.assert(
      fc.property(ipv4, ipv4, fc.integer({ min: 1, max: 32 }), (address, network, bits) => {
        const isShared = firstBits(address, bits) === firstBits(network, bits);
        const outcome = check({ bans: [rangeBan(`${network}/${bits}`)] }, address);
        expect(outcome).toEqual(isShared ? 'BANNED' : []);
      }),
    );
  });

  test('include the network itself, whatever its length', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 128 }), (network, bits) => {
        fc.pre(!isIPv4(network) || bits <= 32);
        // The service bans IPv4 ranges in place of IPv4-mapped ones.
        fc.pre(!/^(0{0,4}:)+ffff:[^:]+(:[^:]+)?$/i.test(network));
        expect(check({ bans: [rangeBan(`${network}/${bits}`)] }, network)).toBe('BANNED');
      }),
    );
  });
});

function firstBits(address: string, bits: number): number {
  const number = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return Math.floor(number / 2 ** (32 - bits));
}
