/**
 * docs/vectors/revocations.json is up to date. After a change, write it again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/relay/revocation-vectors.test.ts && npm run format`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AdmissionRefused,
  checkRevocations,
  followRevocations,
  type RevocationFeed,
} from '../../../sdk/typescript/src/relay/index.ts';
import { hashOf } from '../../../src/control/revocations/revocations.ts';
import {
  AUDIENCE,
  DEVICE_THUMBPRINT,
  hashed,
  hashedRange,
  ISSUER,
  jwks,
  KID,
  NOW_SECONDS,
  RANGE_SALT,
  ROOM_UID,
  sign,
  signingInput,
  TENANT,
} from './support.ts';

const PATH = new URL('../../../docs/vectors/revocations.json', import.meta.url);

const REVOKED_CREDENTIAL = '8badf00d8badf00d';

const OF: readonly (readonly [purpose: string, roomOrTenant: string, value?: string])[] = [
  ['room', ROOM_UID],
  ['epoch', ROOM_UID, 'ann'],
  ['epoch', ROOM_UID, 'zoë'],
  ['mute', ROOM_UID, 'ann'],
  ['user', ROOM_UID, 'bob'],
  ['user', TENANT, 'eve'],
  ['device', ROOM_UID, DEVICE_THUMBPRINT],
  ['device', TENANT, DEVICE_THUMBPRINT],
  ['room', 'room_00000000'],
  ['range', RANGE_SALT, 'c0000200/24'],
  ['range', ROOM_UID, '20010db8000000000000000000000000/32'],
  ['credential', TENANT, REVOKED_CREDENTIAL],
];

const claims = {
  iss: ISSUER,
  aud: AUDIENCE,
  tid: TENANT,
  seq: 42,
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 60,
  epochs: [
    [hashed('epoch', ROOM_UID, 'ann'), 4],
    [hashed('epoch', ROOM_UID, 'zoë'), 1],
  ],
  bans: [
    [hashed('room', ROOM_UID), 'user', hashed('user', ROOM_UID, 'bob'), NOW_SECONDS + 30],
    ['*', 'user', hashed('user', TENANT, 'eve'), null],
    [hashed('room', ROOM_UID), 'device', hashed('device', ROOM_UID, DEVICE_THUMBPRINT), null],
    ['*', 'range', hashedRange(RANGE_SALT, '192.0.2.0/24'), null],
    [hashed('room', ROOM_UID), 'range', hashedRange(ROOM_UID, '2001:db8::/32'), null],
  ],
  mutes: [[hashed('mute', ROOM_UID, 'ann'), 'audio', 'screen']],
  closed: [hashed('room', 'room_00000000')],
  credentials: [hashed('credential', TENANT, REVOKED_CREDENTIAL)],
  reasons: [
    [hashed('epoch', ROOM_UID, 'ann'), 'kicked'],
    [hashed('epoch', ROOM_UID, 'zoë'), 'banned'],
    [hashed('room', 'room_00000000'), 'closed'],
  ],
};

const subject = {
  tenant: TENANT,
  room_uid: ROOM_UID,
  user: 'ann',
  epoch: 4,
  device: 'x'.repeat(43),
  address: '198.51.100.1',
  salt: RANGE_SALT,
  key: '0123456789abcdef',
};

/** `code` null: admitted, except for what is `muted`. `reason`: what the client may tell the user. */
const CHECKS = [
  { name: 'a token of the new epoch', code: null, muted: ['audio', 'screen'], subject },
  {
    name: 'a token of the epoch before',
    code: 'TOKEN_REVOKED',
    reason: 'kicked',
    subject: { ...subject, epoch: 3 },
  },
  {
    name: 'a name that is not ASCII',
    code: 'TOKEN_REVOKED',
    reason: 'banned',
    subject: { ...subject, user: 'zoë', epoch: 0 },
  },
  {
    name: 'a kick from another room',
    code: null,
    muted: [],
    subject: { ...subject, room_uid: 'room_11111111', epoch: 0 },
  },
  {
    name: 'a room that was closed',
    code: 'ROOM_CLOSED',
    reason: 'closed',
    subject: { ...subject, room_uid: 'room_00000000' },
  },
  { name: 'banned from the room', code: 'BANNED', reason: 'banned', subject: { ...subject, user: 'bob' } },
  {
    name: 'banned when that is over',
    now: NOW_SECONDS + 30,
    code: null,
    muted: [],
    subject: { ...subject, user: 'bob' },
  },
  {
    name: 'banned by the tenant',
    code: 'BANNED',
    reason: 'banned',
    subject: { ...subject, user: 'eve', room_uid: 'room_11111111' },
  },
  {
    name: 'a banned device',
    code: 'BANNED',
    reason: 'banned',
    subject: { ...subject, device: DEVICE_THUMBPRINT },
  },
  {
    name: 'a device that is banned from another room',
    code: null,
    muted: [],
    subject: { ...subject, room_uid: 'room_11111111', device: DEVICE_THUMBPRINT },
  },
  { name: 'a banned range', code: 'BANNED', reason: 'banned', subject: { ...subject, address: '192.0.2.7' } },
  {
    name: 'a range that is banned from the room',
    code: 'BANNED',
    reason: 'banned',
    subject: { ...subject, address: '2001:db8::1' },
  },
  {
    name: 'a banned range, to a token of another tenant',
    code: null,
    muted: ['audio', 'screen'],
    subject: { ...subject, address: '192.0.2.7', salt: 'another' },
  },
  {
    name: 'a range that is banned from another room',
    code: null,
    muted: [],
    subject: { ...subject, room_uid: 'room_11111111', address: '2001:db8::1' },
  },
  {
    name: 'a revoked device credential',
    code: 'TOKEN_REVOKED',
    reason: 'credential_revoked',
    subject: { ...subject, key: REVOKED_CREDENTIAL },
  },
  {
    name: 'a credential of that id, of another tenant',
    code: null,
    muted: ['audio', 'screen'],
    subject: { ...subject, tenant: 't_0000000000000000', key: REVOKED_CREDENTIAL },
  },
  { name: 'a snapshot that has ended', now: NOW_SECONDS + 60, code: 'REVOCATIONS_STALE', subject },
];

/** Existing signatures of the same text are kept. */
async function build(committed: string | undefined) {
  const header = { alg: 'ES256', kid: KID, typ: 'revocations+jwt' };
  const isSame = committed?.startsWith(`${signingInput(header, claims)}.`);
  return {
    about:
      'A snapshot of revocations, the hashes in it, and what a relay finds by it. The key is that of participant-tokens.json. See docs/revocations.md.',
    now: NOW_SECONDS,
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks,
    hashes: OF.map((of) => ({
      of,
      text: Buffer.from(of.join('\0')).toString('hex'),
      hash: hashed(...of),
    })),
    jws: isSame ? committed! : await sign(header, claims),
    claims,
    checks: CHECKS,
  };
}

const readFile = (): Awaited<ReturnType<typeof build>> => JSON.parse(readFileSync(PATH, 'utf8'));

if (process.env.WRITE_VECTORS) {
  const committed = existsSync(PATH) ? readFile().jws : undefined;
  writeFileSync(PATH, `${JSON.stringify(await build(committed), undefined, 2)}\n`);
}
const file = readFile();

test('everything but the signature is reproduced', async () => {
  expect(JSON.parse(JSON.stringify(await build(file.jws)))).toEqual(file);
});

test.each(file.hashes)('the service makes the hash of $of', ({ of, hash }) => {
  expect(hashOf(...(of as Parameters<typeof hashOf>))).toBe(hash);
});

describe('a relay finds', () => {
  let feed: RevocationFeed;
  beforeAll(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    feed = followRevocations({
      url: 'https://boxoffice.example',
      tenants: [TENANT],
      issuer: file.issuer,
      audience: file.audience,
      jwks: file.jwks,
      clock: { now: () => 0, wallNow: () => file.now * 1000, after: () => () => {} },
      fetch: async () => new Response(file.jws),
      onChange: () => resolve(),
    });
    await promise;
  });
  afterAll(() => feed.close());

  test.each(file.checks)('$name: $code', ({ now = file.now, code, reason, muted, subject: who }) => {
    const { tenant, user: username, room_uid: roomUid, epoch, device: deviceThumbprint, address } = who;
    const { salt: rangeSalt, key: mintedBy } = who;
    let found: unknown;
    try {
      const whom = { tenant, username, roomUid, epoch, deviceThumbprint, rangeSalt, mintedBy };
      found = checkRevocations(feed.get(TENANT), whom, { nowMs: now * 1000, address });
    } catch (error) {
      found = error instanceof AdmissionRefused ? { code: error.code, reason: error.reason } : error;
    }
    expect(found).toEqual(code === null ? muted : { code, reason });
  });
});
