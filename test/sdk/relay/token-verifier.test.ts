import { describe, expect, test } from 'vitest';
import { createTokenVerifier, type Revocations } from '../../../sdk/typescript/src/relay/index.ts';
import {
  AUDIENCE,
  attemptWith,
  codeOf,
  createRelay,
  DEVICE_THUMBPRINT,
  FINGERPRINT,
  hashed,
  ISSUER,
  KID,
  mint,
  NOW_SECONDS,
  prove,
  ROOM_UID,
  stoppedClock,
} from './support.ts';

type Relay = ReturnType<typeof createRelay>;

/** Present a valid token with a valid proof. */
async function arrive(relay: Relay, token: string, changes: object = {}) {
  const challenge = relay.challenge();
  return await relay.verify({ ...attemptWith(token, await prove(token, challenge), challenge), ...changes });
}

async function comeAgain(relay: Relay, admission: Awaited<ReturnType<typeof arrive>>, token: string) {
  const challenge = relay.challenge();
  return await relay.renew(admission, attemptWith(token, await prove(token, challenge), challenge));
}

const noRevocations: Revocations = {
  seq: 1,
  exp: NOW_SECONDS + 60,
  epochs: [],
  bans: [],
  mutes: [],
  closed: [],
};

describe('verify', () => {
  test('returns user, grant and expiry', async () => {
    expect(await arrive(createRelay(), await mint())).toEqual({
      tenant: 't_e3131c22f12898a2',
      username: 'ann',
      room: 'lobby',
      roomUid: ROOM_UID,
      role: 'host',
      capabilities: ['chat.send', 'publish.audio', 'subscribe.audio'],
      rank: 80,
      epoch: 3,
      deviceThumbprint: DEVICE_THUMBPRINT,
      issuedAt: new Date(NOW_SECONDS * 1000),
      expiresAt: new Date((NOW_SECONDS + 600) * 1000),
      tokenId: 'q8w0c3c5d0m5l4v3s2a1ZQ',
      mintedBy: '0f7e440556fe905a',
      budgets: [],
      rangeSalt: '2c5d0a71e94b4f6f8d13a7c0b6e2f951',
      e2eeRequired: false,
      muteOnEntry: false,
      muted: [],
    });
  });

  test('returns the rules of the room that are for relays', async () => {
    const policy = { e2ee_required: true, mute_on_entry: true, of_a_later_version: 5 };
    const admission = await arrive(createRelay(), await mint({ policy }));
    expect(admission).toMatchObject({ e2eeRequired: true, muteOnEntry: true });
  });

  test.each([
    ['a token of exactly 15 minutes', { exp: NOW_SECONDS + 900 }],
    ['the last second of a token', { iat: NOW_SECONDS - 599, nbf: NOW_SECONDS - 599, exp: NOW_SECONDS + 1 }],
    ['a clock of the service that is 60 seconds ahead', { iat: NOW_SECONDS + 60, nbf: NOW_SECONDS + 60 }],
  ])('accepts %s', async (_, claims) => {
    expect(await codeOf(arrive(createRelay(), await mint(claims)))).toBeUndefined();
  });

  test.each([
    ['with a query', `https://relay.example/connect?room=lobby#x`],
    ['with its default port', 'https://relay.example:443/connect'],
  ])('knows its own address %s', async (_, htu) => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge, { htu }), challenge);
    expect(await codeOf(relay.verify(attempt))).toBeUndefined();
  });

  test('takes the fingerprint in upper case, as DTLS libraries return it', async () => {
    const changes = { dtlsFingerprint: FINGERPRINT.toUpperCase() };
    expect(await codeOf(arrive(createRelay(), await mint(), changes))).toBeUndefined();
  });

  test('checks credit last, and for the tenant of the token', async () => {
    const asked: string[] = [];
    const admitted = (tenant: string) => asked.push(tenant) === 0;
    const relay = createRelay({ admitted });
    expect(await codeOf(arrive(relay, await mint({ exp: NOW_SECONDS })))).toBe('TOKEN_EXPIRED');
    expect(await codeOf(arrive(relay, await mint(), { dtlsFingerprint: '00' }))).toBe(
      'DTLS_OTHER_CERTIFICATE',
    );
    expect(asked).toEqual([]);
    expect(await codeOf(arrive(relay, await mint()))).toBe('NOT_ADMITTED');
    expect(asked).toEqual(['t_e3131c22f12898a2']);
  });

  test('uses changes of the sets of tenants and rooms', async () => {
    const rooms = new Set<string>();
    const relay = createRelay({ tenants: new Set(['t_e3131c22f12898a2']), rooms });
    expect(await codeOf(arrive(relay, await mint()))).toBe('ROOM_NOT_SERVED');
    rooms.add('lobby');
    expect(await codeOf(arrive(relay, await mint()))).toBeUndefined();
  });

  test('admits once when the same attempt comes twenty times at once', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(relay.verify(attempt))));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'CHALLENGE_UNUSABLE')).toHaveLength(19);
  });

  test('throws, rather than refuses, when the relay does not know its own address', async () => {
    await expect(arrive(createRelay(), await mint(), { url: 'connect' })).rejects.toThrow(TypeError);
  });
});

describe('challenges', () => {
  test('are 32 bytes, each different', () => {
    const relay = createRelay();
    const challenges = Array.from({ length: 100 }, () => relay.challenge());
    expect(new Set(challenges).size).toBe(100);
    for (const challenge of challenges) expect(Buffer.from(challenge, 'base64url')).toHaveLength(32);
  });

  test('last for 60 seconds', async () => {
    let nowMs = 0;
    const relay = createRelay({ clock: { ...stoppedClock, now: () => nowMs } });
    const token = await mint();
    const attempts = await Promise.all(
      [1, 2].map(async () => {
        const challenge = relay.challenge();
        return attemptWith(token, await prove(token, challenge), challenge);
      }),
    );
    nowMs += 59_999;
    expect(await codeOf(relay.verify(attempts[0]!))).toBeUndefined();
    nowMs += 1;
    expect(await codeOf(relay.verify(attempts[1]!))).toBe('CHALLENGE_UNUSABLE');
  });

  test('are kept up to a hundred thousand; then the oldest is dropped', async () => {
    const relay = createRelay();
    const [oldest, next] = [relay.challenge(), relay.challenge()];
    for (let issued = 2; issued <= 100_000; issued += 1) relay.challenge();
    const token = await mint();
    const codes = [oldest, next].map(async (challenge) =>
      codeOf(relay.verify(attemptWith(token, await prove(token, challenge), challenge))),
    );
    expect(await Promise.all(codes)).toEqual(['CHALLENGE_UNUSABLE', undefined]);
  });
});

describe('renew', () => {
  test('takes a new token of the same participant, even without credit', async () => {
    let admitted = true;
    const relay = createRelay({ admitted: () => admitted });
    const admission = await arrive(relay, await mint());
    admitted = false;
    const renewed = await comeAgain(
      relay,
      admission,
      await mint({ role: 'audience', exp: NOW_SECONDS + 900 }),
    );
    expect(renewed).toMatchObject({ role: 'audience', expiresAt: new Date((NOW_SECONDS + 900) * 1000) });
  });

  test.each([
    ['user', { sub: 'bob' }],
    ['room', { rid: 'room_00000000' }],
    ['tenant', { tid: 't_0000000000000000' }],
  ])('refuses another %s', async (_, claims) => {
    const relay = createRelay();
    const admission = await arrive(relay, await mint());
    expect(await codeOf(comeAgain(relay, admission, await mint(claims)))).toBe('RENEWAL_OTHER_PARTICIPANT');
  });

  test('refuses another device', async () => {
    const relay = createRelay();
    const admission = await arrive(relay, await mint());
    const elsewhere = { ...admission, deviceThumbprint: 'x'.repeat(43) };
    expect(await codeOf(comeAgain(relay, elsewhere, await mint()))).toBe('RENEWAL_OTHER_PARTICIPANT');
  });

  test('refuses the challenge of the first admission', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    const admission = await relay.verify(attempt);
    expect(await codeOf(relay.renew(admission, attempt))).toBe('CHALLENGE_UNUSABLE');
  });

  test('refuses a user who was kicked since', async () => {
    let revocations = noRevocations;
    const relay = createRelay({ revocations: () => revocations });
    const admission = await arrive(relay, await mint());
    revocations = { ...noRevocations, epochs: [[hashed('epoch', ROOM_UID, 'ann'), 4]] };
    expect(await codeOf(comeAgain(relay, admission, await mint()))).toBe('TOKEN_REVOKED');
    expect(await codeOf(comeAgain(relay, admission, await mint({ ep: 4 })))).toBeUndefined();
  });
});

test('a key set that was given once needs no network and no kid of the wrong kind', async () => {
  const relay = createTokenVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks: { keys: [{ kid: KID }, { kid: 7 }, null as unknown as object] },
    clock: stoppedClock,
  });
  expect(await codeOf(arrive(relay, await mint()))).toBe('TOKEN_UNKNOWN_KEY');
});
