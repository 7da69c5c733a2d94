/** Attacks with a stolen or forged token. All are refused without the network. */
import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { base64url } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdmissionRefused, type Attempt, REFUSALS } from '../../../sdk/typescript/src/relay/index.ts';
import { anyCharacter } from '../../support/characters.ts';
import {
  attemptWith,
  codeOf,
  createRelay,
  FINGERPRINT,
  hashed,
  type Json,
  KID,
  keyNamed,
  mint,
  NOW_SECONDS,
  proofClaims,
  prove,
  publicOf,
  ROOM_UID,
  sign,
  signingInput,
  signingKey,
  TENANT,
  thiefKey,
  tokenClaims,
  tokenHeader,
} from './support.ts';

const fetchOfThePlatform = vi.fn(async () => expect.fail('the network was used'));
beforeEach(() => vi.stubGlobal('fetch', fetchOfThePlatform));
afterEach(() => vi.unstubAllGlobals());

type Relay = ReturnType<typeof createRelay>;

/** Present a token, with a proof by the rightful device, to a relay that serves its tenant and room. */
async function present(token: string, relay: Relay = createRelay()): Promise<string | undefined> {
  const challenge = relay.challenge();
  return await codeOf(relay.verify(attemptWith(token, await prove(token, challenge), challenge)));
}

/** Present a valid token with a modified proof. */
async function presentProof(
  claims: Json,
  header: Json = {},
  key?: typeof signingKey,
): Promise<string | undefined> {
  const relay = createRelay();
  const [token, challenge] = [await mint(), relay.challenge()];
  const proof = await prove(token, challenge, claims, header, key);
  return await codeOf(relay.verify(attemptWith(token, proof, challenge)));
}

/** Present a valid token and proof over a modified connection. */
async function presentOver(changes: Partial<Attempt>): Promise<string | undefined> {
  const relay = createRelay();
  const [token, challenge] = [await mint(), relay.challenge()];
  const attempt = attemptWith(token, await prove(token, challenge), challenge);
  return await codeOf(relay.verify({ ...attempt, ...changes }));
}

test('the rightful device is admitted, so the other cases are refused for their own reasons', async () => {
  expect(await present(await mint())).toBeUndefined();
  expect(await presentProof({})).toBeUndefined();
  expect(await presentOver({})).toBeUndefined();
});

describe('a copied token', () => {
  test('without a proof', async () => {
    expect(await presentOver({ proof: '' })).toBe('PROOF_MALFORMED');
    expect(await presentOver({ proof: undefined as never })).toBe('PROOF_MALFORMED');
  });

  test('with a proof by the key of the thief', async () => {
    expect(await presentProof({}, { jwk: publicOf(thiefKey) }, thiefKey)).toBe('PROOF_OTHER_DEVICE');
  });

  test("with a proof that shows the device's key and is signed by the thief's", async () => {
    expect(await presentProof({}, {}, thiefKey)).toBe('PROOF_BAD_SIGNATURE');
  });

  test("with a proof that is signed by the device and shows the thief's key", async () => {
    expect(await presentProof({}, { jwk: publicOf(thiefKey) })).toBe('PROOF_BAD_SIGNATURE');
  });

  test('in place of the proof', async () => {
    const token = await mint();
    expect(await presentOver({ token, proof: token })).toBe('PROOF_WRONG_TYPE');
  });
});

describe('a copied proof', () => {
  test('again, with its challenge', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    expect(await codeOf(relay.verify(attempt))).toBeUndefined();
    expect(await codeOf(relay.verify(attempt))).toBe('CHALLENGE_UNUSABLE');
  });

  test('again, over a connection with a challenge of its own', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const proof = await prove(token, challenge);
    const attempt = attemptWith(token, proof, relay.challenge());
    expect(await codeOf(relay.verify(attempt))).toBe('PROOF_OTHER_CHALLENGE');
  });

  test('with a challenge of another relay', async () => {
    const [relay, other] = [createRelay(), createRelay()];
    const [token, challenge] = [await mint(), other.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    expect(await codeOf(relay.verify(attempt))).toBe('CHALLENGE_UNUSABLE');
    expect(await codeOf(other.verify(attempt))).toBeUndefined();
  });

  test.each([
    ['without any challenge', undefined],
    ['with an empty challenge', ''],
    ['with a challenge that is no text', 7],
  ])('%s', async (_, nonce) => {
    expect(await presentProof({ nonce })).toBe('PROOF_OTHER_CHALLENGE');
    const token = await mint();
    const attempt = attemptWith(token, await prove(token, nonce as never), nonce as never);
    expect(await codeOf(createRelay().verify(attempt))).toBe('CHALLENGE_UNUSABLE');
  });

  test.each([
    ['another host', 'https://relay-2.example/connect'],
    ['another path', 'https://relay.example/'],
    ['another port', 'https://relay.example:8443/connect'],
    ['another scheme', 'http://relay.example/connect'],
    ['a user', 'https://ann@relay.example/connect'],
    ['no URL', 'relay.example/connect'],
    ['nothing', undefined],
    ['a list', ['https://relay.example/connect', 'x']],
  ])('for another relay: %s', async (_, htu) => {
    expect(await presentProof({ htu })).toBe('PROOF_OTHER_URL');
  });

  test.each(['connect', 'GET', '', undefined])('for another method: %s', async (htm) => {
    expect(await presentProof({ htm })).toBe('PROOF_OTHER_METHOD');
  });

  test('for another token of the same device', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const proof = await prove(await mint({ jti: 'another' }), challenge);
    expect(await codeOf(relay.verify(attemptWith(token, proof, challenge)))).toBe('PROOF_OTHER_TOKEN');
    expect(await presentProof({ ath: undefined })).toBe('PROOF_OTHER_TOKEN');
  });

  test('over a DTLS connection with another certificate', async () => {
    const other = FINGERPRINT.replace(/^../, (byte) => (byte === '00' ? '01' : '00'));
    expect(await presentOver({ dtlsFingerprint: other })).toBe('DTLS_OTHER_CERTIFICATE');
    expect(await presentProof({ dtls_fp: other })).toBe('DTLS_OTHER_CERTIFICATE');
    expect(await presentOver({ dtlsFingerprint: '' })).toBe('DTLS_OTHER_CERTIFICATE');
  });

  test.each([
    ['an empty fingerprint', { dtls_fp: '' }],
    ['no fingerprint', { dtls_fp: undefined }],
    ['a short fingerprint', { dtls_fp: FINGERPRINT.slice(3) }],
    ['no jti', { jti: undefined }],
    ['no iat', { iat: undefined }],
    ['an iat that is no number', { iat: `${NOW_SECONDS}` }],
  ])('with %s', async (_, claims) => {
    expect(await presentProof(claims)).toBe('PROOF_CLAIMS_INVALID');
  });
});

describe('a forged proof', () => {
  test.each([
    ['a private key', thiefKey],
    ['a key off the curve', { ...publicOf(thiefKey), y: thiefKey.x }],
    ['the point at infinity', { ...publicOf(thiefKey), x: '', y: '' }],
    ['a key of another curve', { ...publicOf(thiefKey), crv: 'P-384' }],
    ['a symmetric key', { kty: 'oct', k: 'AAAA' }],
    ['a key with further members', { ...publicOf(thiefKey), key_ops: ['verify'] }],
    ['no key', undefined],
    ['a list', [publicOf(thiefKey)]],
    ['a text', 'key'],
  ])('with %s', async (_, jwk) => {
    const code = await presentProof({}, { jwk }, thiefKey);
    expect(code).toBe(jwk === undefined ? 'PROOF_HEADER_INVALID' : 'PROOF_KEY_INVALID');
  });

  test.each([
    ['JWT', 'PROOF_WRONG_TYPE', { typ: 'JWT' }],
    ['participant+jwt', 'PROOF_WRONG_TYPE', { typ: 'participant+jwt' }],
    ['alg none', 'PROOF_WRONG_ALGORITHM', { alg: 'none' }],
    ['alg HS256', 'PROOF_WRONG_ALGORITHM', { alg: 'HS256' }],
    ['jku', 'PROOF_HEADER_INVALID', { jku: 'https://thief.example/keys' }],
    ['b64', 'PROOF_HEADER_INVALID', { b64: false, crit: ['b64'] }],
  ])('with %s in its header', async (_, code, header) => {
    expect(await presentProof({}, header)).toBe(code);
  });
});

describe('a forged token', () => {
  test.each(['none', 'None', 'NONE', ''])('with alg %j and no signature', async (alg) => {
    expect(await present(`${signingInput(tokenHeader({ alg }), tokenClaims())}.`)).toBe(
      'TOKEN_WRONG_ALGORITHM',
    );
  });

  test.each([
    ['its x', signingKey.x],
    ['its JWK', JSON.stringify(publicOf(signingKey))],
  ])('with HS256 by the public key as a secret: %s', async (_, secret) => {
    const input = signingInput(tokenHeader({ alg: 'HS256' }), tokenClaims());
    const mac = createHmac('sha256', secret).update(input).digest('base64url');
    expect(await present(`${input}.${mac}`)).toBe('TOKEN_WRONG_ALGORITHM');
    const hidden = signingInput(tokenHeader(), tokenClaims());
    const sameLength = `${createHmac('sha512', secret).update(hidden).digest('base64url')}`;
    expect(await present(`${hidden}.${sameLength}`)).toBe('TOKEN_BAD_SIGNATURE');
  });

  test.each(['JWT', 'at+jwt', 'dpop+jwt', 'application/participant+jwt', 'PARTICIPANT+JWT', undefined])(
    'with typ %s',
    async (typ) => {
      expect(await present(await mint({}, { typ }))).toBe('TOKEN_WRONG_TYPE');
    },
  );

  test("signed by the thief's key", async () => {
    expect(await present(await mint({}, {}, thiefKey))).toBe('TOKEN_BAD_SIGNATURE');
  });

  test('signed by a key that was retired', async () => {
    const retired = keyNamed('boxoffice test vectors: retired signing key');
    expect(await present(await mint({}, { kid: 'retired' }, retired))).toBe('TOKEN_UNKNOWN_KEY');
  });

  test.each([
    '../../../../dev/null',
    '/etc/passwd',
    "' or 1=1 --",
    'https://thief.example/keys',
    `${KID}\u0000`,
    '__proto__',
    'constructor',
    'toString',
    '',
    0,
    null,
    { toString: KID },
    [KID],
  ])('with kid %j', async (kid) => {
    expect(await present(await mint({}, { kid }, thiefKey))).toBe('TOKEN_UNKNOWN_KEY');
  });

  test.each([
    ['jwk', { jwk: publicOf(thiefKey) }],
    ['jku', { jku: 'https://thief.example/keys' }],
    ['x5u', { x5u: 'https://thief.example/chain' }],
    ['x5c', { x5c: ['MIIB'] }],
    ['crit', { crit: ['exp'], exp: 1 }],
    ['b64', { crit: ['b64'], b64: false }],
    ['zip', { zip: 'DEF' }],
    ['no kid', { kid: undefined }],
  ])('that brings its key along or asks for more: %s', async (_, header) => {
    expect(await present(await mint({}, header, thiefKey))).toBe('TOKEN_HEADER_INVALID');
  });

  test.each(['0'.repeat(64), 'f'.repeat(128), '00'.repeat(64), '01', ''])(
    'with the signature %s',
    async (hex) => {
      const signature = Buffer.from(hex, 'hex').toString('base64url');
      const token = `${signingInput(tokenHeader(), tokenClaims())}.${signature}`;
      expect(await present(token)).toBe('TOKEN_BAD_SIGNATURE');
    },
  );
});

describe('a token of the service', () => {
  const ago = (seconds: number) => NOW_SECONDS - seconds;
  test.each<[string, string, Json]>([
    ['from another issuer', 'TOKEN_WRONG_ISSUER', { iss: 'https://other.example' }],
    ['from an issuer with a slash more', 'TOKEN_WRONG_ISSUER', { iss: 'https://boxoffice.example/' }],
    ['without an issuer', 'TOKEN_WRONG_ISSUER', { iss: undefined }],
    ['for another audience', 'TOKEN_WRONG_AUDIENCE', { aud: 'relay:other.example' }],
    ['for several audiences', 'TOKEN_WRONG_AUDIENCE', { aud: ['relay:boxoffice.example'] }],
    ['that ends now', 'TOKEN_EXPIRED', { iat: ago(600), nbf: ago(600), exp: NOW_SECONDS }],
    ['that ended a second ago', 'TOKEN_EXPIRED', { iat: ago(601), nbf: ago(601), exp: ago(1) }],
    ['that never ends', 'TOKEN_CLAIMS_INVALID', { exp: undefined }],
    ['that ends as a text', 'TOKEN_CLAIMS_INVALID', { exp: `${NOW_SECONDS + 600}` }],
    ['that ends at infinity', 'TOKEN_CLAIMS_INVALID', { exp: 1e300 }],
    ['issued 61 seconds from now', 'TOKEN_NOT_YET_VALID', { iat: NOW_SECONDS + 61 }],
    ['valid 61 seconds from now', 'TOKEN_NOT_YET_VALID', { nbf: NOW_SECONDS + 61 }],
    ['that lives 901 seconds', 'TOKEN_LIVES_TOO_LONG', { exp: NOW_SECONDS + 901 }],
    ['that ends before it begins', 'TOKEN_LIVES_TOO_LONG', { iat: NOW_SECONDS + 5, exp: NOW_SECONDS + 5 }],
    ['that is bound to nothing', 'TOKEN_NOT_BOUND', { cnf: undefined }],
    ['that is bound to null', 'TOKEN_NOT_BOUND', { cnf: null }],
    ['that is bound by something else', 'TOKEN_NOT_BOUND', { cnf: { 'x5t#S256': 'x'.repeat(43) } }],
    ['that is bound by two things', 'TOKEN_NOT_BOUND', { cnf: { jkt: 'x'.repeat(43), kid: 'any' } }],
    ['that is bound by a short thumbprint', 'TOKEN_NOT_BOUND', { cnf: { jkt: 'x'.repeat(42) } }],
    ['of an unknown role', 'TOKEN_CLAIMS_INVALID', { role: 'owner' }],
    ['with capabilities that are no list', 'TOKEN_CLAIMS_INVALID', { cap: 'publish.audio' }],
    ['with capabilities that are no texts', 'TOKEN_CLAIMS_INVALID', { cap: [{}] }],
    ['without a user', 'TOKEN_CLAIMS_INVALID', { sub: '' }],
    ['without a room', 'TOKEN_CLAIMS_INVALID', { room: undefined }],
    ['without an epoch', 'TOKEN_CLAIMS_INVALID', { ep: undefined }],
    ['with a negative epoch', 'TOKEN_CLAIMS_INVALID', { ep: -1 }],
    ['of another tenant', 'TENANT_NOT_SERVED', { tid: 't_0000000000000000' }],
    ['for another room', 'ROOM_NOT_SERVED', { room: 'attic' }],
    ['for the room that had the name before', 'ROOM_NOT_CURRENT', { rid: 'room_00000000' }],
  ])('%s', async (_, code, claims) => {
    const relay = createRelay({
      tenants: new Set(['t_e3131c22f12898a2']),
      rooms: new Set(['lobby']),
      currentRoomUid: () => ROOM_UID,
    });
    expect(await present(await mint(claims), relay)).toBe(code);
  });

  test.each([
    ['of an earlier epoch', 'TOKEN_REVOKED', { epochs: [[hashed('epoch', ROOM_UID, 'ann'), 4]] }],
    ['of a banned user', 'BANNED', { bans: [['*', 'user', hashed('user', TENANT, 'ann'), null]] }],
    ['for a closed room', 'ROOM_CLOSED', { closed: [hashed('room', ROOM_UID)] }],
    ['while revocations are too old', 'REVOCATIONS_STALE', { exp: NOW_SECONDS }],
  ] as const)('%s', async (_, code, changes) => {
    const nothing = { seq: 1, exp: NOW_SECONDS + 60, epochs: [], bans: [], mutes: [], closed: [] };
    const relay = createRelay({ revocations: () => ({ ...nothing, ...changes }) });
    expect(await present(await mint(), relay)).toBe(code);
  });
});

describe('garbage', () => {
  test('of more than 4 KiB is not parsed', async () => {
    const long = 'a'.repeat(4097);
    expect(await presentOver({ token: long })).toBe('TOKEN_TOO_LARGE');
    expect(await presentOver({ token: `${await mint({ pad: 'x'.repeat(4096) })}` })).toBe('TOKEN_TOO_LARGE');
    expect(await presentOver({ proof: long })).toBe('PROOF_TOO_LARGE');
    expect(await presentOver({ token: long.slice(1) })).toBe('TOKEN_MALFORMED');
  });

  test.each([
    ['two segments', 'e30.e30'],
    ['four segments', 'e30.e30.e30.e30'],
    ['a JWE', 'e30.e30.e30.e30.e30'],
    ['padding', 'e30=.e30.AAAA'],
    ['the other base64', '+/+/.e30.AAAA'],
    ['white space', ' e30.e30.AAAA'],
    ['a header that is a list', `${base64url.encode('[]')}.e30.AAAA`],
    ['a header that is null', `${base64url.encode('null')}.e30.AAAA`],
    ['a header that is no UTF-8', `${base64url.encode(new Uint8Array([0x7b, 0xff, 0x7d]))}.e30.AAAA`],
    ['the JSON form', '{"payload":"","protected":"","signature":""}'],
  ])('%s', async (_, text) => {
    expect(await presentOver({ token: text })).toBe('TOKEN_MALFORMED');
    expect(await presentOver({ proof: text })).toBe('PROOF_MALFORMED');
  });

  test.each([[null], [7], [{}], [['e30.e30.AAAA']]])('that is not a string: %j', async (value) => {
    expect(await presentOver({ token: value as never })).toBe('TOKEN_MALFORMED');
    expect(await presentOver({ proof: value as never })).toBe('PROOF_MALFORMED');
  });

  test('a signed payload that is not an object', async () => {
    for (const payload of [[], null, 7, 'text']) {
      expect(await present(await sign(tokenHeader(), payload))).toBe('TOKEN_MALFORMED');
    }
  });

  test('of any kind ends in a refusal with a code from the table', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const proof = await prove(token, challenge);
    const segment = fc.oneof(
      fc.string().map((text) => base64url.encode(text)),
      fc.json().map((text) => base64url.encode(text)),
      fc.constantFrom(...token.split('.'), ...proof.split('.')),
    );
    const text = fc.oneof(
      fc.array(segment, { minLength: 2, maxLength: 4 }).map((segments) => segments.join('.')),
      fc.string({ unit: anyCharacter, maxLength: 5000 }),
      fc.anything(),
    );
    const attempts = fc.oneof(
      fc.record({ token: text }),
      fc.record({ proof: text }),
      fc.record({ token: text, proof: text, challenge: fc.anything() }),
    );
    await fc.assert(
      fc.asyncProperty(attempts, async (garbage) => {
        const attempt = { ...attemptWith(token, proof, challenge), ...garbage } as Attempt;
        fc.pre(attempt.token !== token || attempt.proof !== proof);
        expect(REFUSALS).toHaveProperty(String(await codeOf(relay.verify(attempt))));
      }),
      { numRuns: 500 },
    );
    expect(await codeOf(relay.verify(attemptWith(token, proof, challenge)))).toBeUndefined();
  });

  test('signed claims of any kind end in a refusal too', async () => {
    const relay = createRelay();
    const name = fc.constantFrom(...Object.keys(tokenClaims()));
    const proofName = fc.constantFrom(...Object.keys(proofClaims('', '')));
    const value = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    await fc.assert(
      fc.asyncProperty(name, value, proofName, value, async (claim, one, proofClaim, other) => {
        const token = await mint({ [claim]: one });
        const challenge = relay.challenge();
        const proof = await prove(token, challenge, { [proofClaim]: other });
        // Some values are as valid as the original (another jti); none may cause another kind of error.
        await codeOf(relay.verify(attemptWith(token, proof, challenge)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a single character', () => {
  const characters = fc.oneof(
    fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  );

  test.each(['token', 'proof'] as const)('of the %s cannot be changed', async (what) => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    const original = attempt[what];
    const place = fc.oneof(fc.nat(original.length - 1), fc.constant(original.length - 1));
    await fc.assert(
      fc.asyncProperty(place, characters, async (at, character) => {
        fc.pre(original[at] !== character);
        const changed = original.slice(0, at) + character + original.slice(at + 1);
        expect(await codeOf(relay.verify({ ...attempt, [what]: changed }))).toBeDefined();
      }),
      { numRuns: 500 },
    );
    expect(await codeOf(relay.verify(attempt))).toBeUndefined();
  });

  test.each(['token', 'proof'] as const)('at the end of the %s has one spelling only', async (what) => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      if (attempt[what].endsWith(character)) continue;
      const changed = attempt[what].slice(0, -1) + character;
      expect(await codeOf(relay.verify({ ...attempt, [what]: changed }))).toBeDefined();
    }
  });
});

test('a refusal reveals nothing of token and proof', async () => {
  const secret = randomBytes(16).toString('hex');
  const header = base64url.encode(`{"typ":"${secret}`);
  const token = await mint({ sub: secret, exp: 1 });
  const attempts = [`${header}.e30.AAAA`, token, token.slice(0, -9), `${secret}.${secret}.${secret}`];
  for (const text of attempts) {
    for (const what of ['token', 'proof']) {
      const relay = createRelay();
      const good = await mint();
      const challenge = relay.challenge();
      const attempt = { ...attemptWith(good, await prove(good, challenge), challenge), [what]: text };
      const error = await relay.verify(attempt).then(
        () => expect.fail('accepted'),
        (refusal: AdmissionRefused) => refusal,
      );
      const told = `${error.message} ${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`;
      expect(told).not.toContain(secret);
      for (const part of text.split('.').filter((each) => each.length > 8)) expect(told).not.toContain(part);
    }
  }
});

test('no test here used the network', () => {
  expect(fetchOfThePlatform).not.toHaveBeenCalled();
});
