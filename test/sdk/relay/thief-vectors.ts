/**
 * Attacks with a stolen or forged token, for docs/vectors/thief.json. Everything but the signatures is derived
 * from here.
 */
import { createHash, createHmac } from 'node:crypto';
import { base64url } from 'jose';
import {
  DEVICE_THUMBPRINT,
  FINGERPRINT,
  hashed,
  type Json,
  KID,
  keyNamed,
  NOW_SECONDS,
  publicOf,
  ROOM_UID,
  signingInput,
  signingKey,
  TENANT,
  thiefKey,
  tokenClaims,
  tokenHeader,
} from './support.ts';
import { buildFile, type Case, revoked, type Vector, type VectorFile } from './vectors.ts';

const ABOUT =
  'Attacks with a stolen or forged token, and the code that a relay answers. Only the first vector, the rightful device, is admitted. The form is that of participant-tokens.json. See docs/tokens.md.';

/** Cases whose name and change are made from a list of values. */
function each<T>(values: readonly T[], make: (value: T) => Case): Case[] {
  return values.map(make);
}

function named(
  values: Readonly<Record<string, unknown>>,
  make: (what: string, value: never) => Case,
): Case[] {
  return Object.entries(values).map(([what, value]) => make(what, value as never));
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const ago = (seconds: number) => NOW_SECONDS - seconds;
const OTHER_FINGERPRINT = FINGERPRINT.replace(/^../, (byte) => (byte === '00' ? '01' : '00'));
const OTHER_CHALLENGE = createHash('sha256').update('another challenge').digest('base64url');

/** A token whose last segment is an HMAC with a public key as the secret. */
function signedByHmac(alg: string, hash: string, secret: string): string {
  const input = signingInput(tokenHeader({ alg }), tokenClaims());
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

const COPIED_TOKEN: Case[] = [
  ['a copied token without a proof', 'PROOF_MALFORMED', { proof: '' }],
  [
    "a copied token with a proof by the thief's key",
    'PROOF_OTHER_DEVICE',
    { proofHeader: { jwk: publicOf(thiefKey) }, provedBy: thiefKey },
  ],
  [
    "a proof that shows the device's key and is signed by the thief's",
    'PROOF_BAD_SIGNATURE',
    { provedBy: thiefKey },
  ],
  [
    "a proof that is signed by the device and shows the thief's key",
    'PROOF_BAD_SIGNATURE',
    { proofHeader: { jwk: publicOf(thiefKey) } },
  ],
  [
    'a token in place of its proof',
    'PROOF_WRONG_TYPE',
    { token: ({ token }) => token, proof: ({ token }) => token },
  ],
];

/** Token and proof of the rightful device, over another connection. */
function replayed(rest: Partial<Vector>) {
  return { token: ({ token }: Vector) => token, proof: ({ proof }: Vector) => proof, rest };
}

const COPIED_PROOF: Case[] = [
  ['a proof presented again', 'CHALLENGE_UNUSABLE', replayed({ challenge_issued: false })],
  [
    'a proof presented again over a connection with a challenge of its own',
    'PROOF_OTHER_CHALLENGE',
    replayed({ connection: { challenge: OTHER_CHALLENGE } }),
  ],
  ['a proof without a challenge', 'PROOF_OTHER_CHALLENGE', { proofClaims: { nonce: undefined } }],
  ['a proof with an empty challenge', 'PROOF_OTHER_CHALLENGE', { proofClaims: { nonce: '' } }],
  ['a proof with a challenge that is no text', 'PROOF_OTHER_CHALLENGE', { proofClaims: { nonce: 7 } }],
  [
    'an empty challenge on both sides',
    'CHALLENGE_UNUSABLE',
    { proofClaims: { nonce: '' }, rest: { connection: { challenge: '' }, challenge_issued: false } },
  ],
  ...named(
    {
      'another host': 'https://relay-2.example/connect',
      'another path': 'https://relay.example/',
      'another port': 'https://relay.example:8443/connect',
      'another scheme': 'http://relay.example/connect',
      'a user': 'https://ann@relay.example/connect',
      'no URL': 'relay.example/connect',
      nothing: undefined,
      'a list': ['https://relay.example/connect', 'x'],
      'a list of one URL': ['https://relay.example/connect'],
    },
    (what, htu) => [`a proof for another relay: ${what}`, 'PROOF_OTHER_URL', { proofClaims: { htu } }],
  ),
  ...each(['connect', 'GET', '', undefined], (htm) => [
    `a proof for another method: ${JSON.stringify(htm ?? null)}`,
    'PROOF_OTHER_METHOD',
    { proofClaims: { htm } },
  ]),
  [
    'a proof for another token of the same device',
    'PROOF_OTHER_TOKEN',
    { proofClaims: { ath: createHash('sha256').update('another token').digest('base64url') } },
  ],
  ['a proof for no token', 'PROOF_OTHER_TOKEN', { proofClaims: { ath: undefined } }],
  [
    'a DTLS connection with another certificate',
    'DTLS_OTHER_CERTIFICATE',
    replayed({ connection: { dtls_fingerprint: OTHER_FINGERPRINT } }),
  ],
  [
    'a proof of another DTLS certificate',
    'DTLS_OTHER_CERTIFICATE',
    { proofClaims: { dtls_fp: OTHER_FINGERPRINT } },
  ],
  [
    'a connection without a DTLS certificate',
    'DTLS_OTHER_CERTIFICATE',
    replayed({ connection: { dtls_fingerprint: '' } }),
  ],
  ...named(
    {
      'an empty fingerprint': { dtls_fp: '' },
      'no fingerprint': { dtls_fp: undefined },
      'a short fingerprint': { dtls_fp: FINGERPRINT.slice(3) },
      'no jti': { jti: undefined },
      'no iat': { iat: undefined },
      'an iat that is no number': { iat: `${NOW_SECONDS}` },
    },
    (what, proofClaims) => [`a proof with ${what}`, 'PROOF_CLAIMS_INVALID', { proofClaims }],
  ),
];

/** The same number in 33 bytes. */
function withZeroByte(coordinate: string): string {
  return base64url.encode(Buffer.concat([Buffer.alloc(1), base64url.decode(coordinate)]));
}

/** Another text for the same bytes: 43 characters have two bits more than 32 bytes. */
function withUnusedBits(coordinate: string): string {
  const last = BASE64URL.indexOf(coordinate.at(-1)!);
  return coordinate.slice(0, -1) + BASE64URL[last + 1]!;
}

const FORGED_PROOF: Case[] = [
  ...named(
    {
      'a private key': thiefKey,
      'a key off the curve': { ...publicOf(thiefKey), y: thiefKey.x },
      'the point at infinity': { ...publicOf(thiefKey), x: '', y: '' },
      'a padded coordinate': { ...publicOf(thiefKey), x: `${thiefKey.x}=` },
      'a coordinate with white space': { ...publicOf(thiefKey), x: `${thiefKey.x} ` },
      'a coordinate with a leading zero byte': { ...publicOf(thiefKey), x: withZeroByte(thiefKey.x) },
      'a coordinate whose unused bits are set': { ...publicOf(thiefKey), x: withUnusedBits(thiefKey.x) },
      'a key of another curve': { ...publicOf(thiefKey), crv: 'P-384' },
      'a symmetric key': { kty: 'oct', k: 'AAAA' },
      'a key with further members': { ...publicOf(thiefKey), key_ops: ['verify'] },
      'a list of keys': [publicOf(thiefKey)],
      'a text as the key': 'key',
    },
    (what, jwk) => [
      `a proof with ${what}`,
      'PROOF_KEY_INVALID',
      { proofHeader: { jwk }, provedBy: thiefKey },
    ],
  ),
  ['a proof with no key', 'PROOF_HEADER_INVALID', { proofHeader: { jwk: undefined }, provedBy: thiefKey }],
  ['a proof of type JWT', 'PROOF_WRONG_TYPE', { proofHeader: { typ: 'JWT' } }],
  ['a proof of type participant+jwt', 'PROOF_WRONG_TYPE', { proofHeader: { typ: 'participant+jwt' } }],
  ['a proof with alg none', 'PROOF_WRONG_ALGORITHM', { proofHeader: { alg: 'none' } }],
  ['a proof with alg HS256', 'PROOF_WRONG_ALGORITHM', { proofHeader: { alg: 'HS256' } }],
  ['a proof with jku', 'PROOF_HEADER_INVALID', { proofHeader: { jku: 'https://thief.example/keys' } }],
  ['a proof with b64', 'PROOF_HEADER_INVALID', { proofHeader: { b64: false, crit: ['b64'] } }],
];

const PUBLIC_SECRETS = { 'its x': signingKey.x, 'its JWK': JSON.stringify(publicOf(signingKey)) };

const FORGED_TOKEN: Case[] = [
  ...each(['none', 'None', 'NONE', ''], (alg) => [
    `a token with alg ${JSON.stringify(alg)} and no signature`,
    'TOKEN_WRONG_ALGORITHM',
    { token: `${signingInput(tokenHeader({ alg }), tokenClaims())}.` },
  ]),
  ...named(PUBLIC_SECRETS, (what, secret) => [
    `a token with HS256 by the public key as a secret: ${what}`,
    'TOKEN_WRONG_ALGORITHM',
    { token: signedByHmac('HS256', 'sha256', secret) },
  ]),
  // An HMAC by SHA-512 is as long as a signature by ES256.
  ...named(PUBLIC_SECRETS, (what, secret) => [
    `a token that claims ES256, with an HMAC by the public key: ${what}`,
    'TOKEN_BAD_SIGNATURE',
    { token: signedByHmac('ES256', 'sha512', secret) },
  ]),
  ...each(
    ['JWT', 'at+jwt', 'dpop+jwt', 'application/participant+jwt', 'PARTICIPANT+JWT', undefined],
    (typ) => [`a token of type ${typ ?? 'nothing'}`, 'TOKEN_WRONG_TYPE', { header: { typ } }],
  ),
  ["a token signed by the thief's key", 'TOKEN_BAD_SIGNATURE', { signedBy: thiefKey }],
  [
    'a token signed by a key that was retired',
    'TOKEN_UNKNOWN_KEY',
    { header: { kid: 'retired' }, signedBy: keyNamed('boxoffice test vectors: retired signing key') },
  ],
  ...each(
    [
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
    ],
    (kid) => [
      `a token with kid ${JSON.stringify(kid)}`,
      'TOKEN_UNKNOWN_KEY',
      { header: { kid }, signedBy: thiefKey },
    ],
  ),
  ...named(
    {
      jwk: { jwk: publicOf(thiefKey) },
      jku: { jku: 'https://thief.example/keys' },
      x5u: { x5u: 'https://thief.example/chain' },
      x5c: { x5c: ['MIIB'] },
      crit: { crit: ['exp'], exp: 1 },
      b64: { crit: ['b64'], b64: false },
      zip: { zip: 'DEF' },
      'no kid': { kid: undefined },
    },
    (what, header) => [
      `a token whose header has ${what}`,
      'TOKEN_HEADER_INVALID',
      { header, signedBy: thiefKey },
    ],
  ),
  ...named(
    {
      'half of zeros': '0'.repeat(64),
      'all ones': 'f'.repeat(128),
      zeros: '00'.repeat(64),
      short: '01',
      none: '',
    },
    (what, hex) => [
      `a token with a made-up signature: ${what}`,
      'TOKEN_BAD_SIGNATURE',
      {
        token: `${signingInput(tokenHeader(), tokenClaims())}.${Buffer.from(hex, 'hex').toString('base64url')}`,
      },
    ],
  ),
];

const CLAIMS: readonly (readonly [what: string, code: string, claims: Json])[] = [
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
  ['that ends within a second', 'TOKEN_CLAIMS_INVALID', { exp: NOW_SECONDS + 600.5 }],
  ['issued 61 seconds from now', 'TOKEN_NOT_YET_VALID', { iat: NOW_SECONDS + 61 }],
  ['valid 61 seconds from now', 'TOKEN_NOT_YET_VALID', { nbf: NOW_SECONDS + 61 }],
  ['that lives 901 seconds', 'TOKEN_LIVES_TOO_LONG', { exp: NOW_SECONDS + 901 }],
  ['that ends before it begins', 'TOKEN_LIVES_TOO_LONG', { iat: NOW_SECONDS + 5, exp: NOW_SECONDS + 5 }],
  ['that is bound to nothing', 'TOKEN_NOT_BOUND', { cnf: undefined }],
  ['that is bound to null', 'TOKEN_NOT_BOUND', { cnf: null }],
  ['that is bound by something else', 'TOKEN_NOT_BOUND', { cnf: { 'x5t#S256': 'x'.repeat(43) } }],
  ['that is bound by two things', 'TOKEN_NOT_BOUND', { cnf: { jkt: DEVICE_THUMBPRINT, kid: 'any' } }],
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
];

const OF_THE_SERVICE: Case[] = [
  ...each(CLAIMS, ([what, code, claims]) => [`a token ${what}`, code, { claims }]),
  [
    'a token of an earlier epoch',
    'TOKEN_REVOKED',
    revoked({ epochs: [[hashed('epoch', ROOM_UID, 'ann'), 4]] }),
  ],
  [
    'a token of a banned user',
    'BANNED',
    revoked({ bans: [['*', 'user', hashed('user', TENANT, 'ann'), null]] }),
  ],
  ['a token for a closed room', 'ROOM_CLOSED', revoked({ closed: [hashed('room', ROOM_UID)] })],
  ['a token while revocations are too old', 'REVOCATIONS_STALE', revoked({ exp: NOW_SECONDS })],
];

/** Texts that are no compact JWS. */
const GARBAGE = {
  'two segments': 'e30.e30',
  'four segments': 'e30.e30.e30.e30',
  'a JWE': 'e30.e30.e30.e30.e30',
  padding: 'e30=.e30.AAAA',
  'the other base64': '+/+/.e30.AAAA',
  'white space': ' e30.e30.AAAA',
  'a line break': 'e30.e30.AAAA\n',
  'a header that is a list': `${base64url.encode('[]')}.e30.AAAA`,
  'a header that is null': `${base64url.encode('null')}.e30.AAAA`,
  'a header that is no UTF-8': `${base64url.encode(new Uint8Array([0x7b, 0xff, 0x7d]))}.e30.AAAA`,
  'the JSON form': '{"payload":"","protected":"","signature":""}',
  'characters beyond ASCII': 'é30.e30.AAAA',
};

const LONG = 'a'.repeat(4097);

const GARBAGE_CASES: Case[] = [
  ...named(GARBAGE, (what, token) => [`a token of garbage: ${what}`, 'TOKEN_MALFORMED', { token }]),
  ...named(GARBAGE, (what, proof) => [
    `a proof of garbage: ${what}`,
    'PROOF_MALFORMED',
    { token: ({ token }) => token, proof },
  ]),
  ['a token of 4097 characters of garbage', 'TOKEN_TOO_LARGE', { token: LONG }],
  ['a token of 4096 characters of garbage', 'TOKEN_MALFORMED', { token: LONG.slice(1) }],
  ['a signed token of more than 4 KiB', 'TOKEN_TOO_LARGE', { claims: { pad: 'x'.repeat(4096) } }],
  ['a proof of 4097 characters', 'PROOF_TOO_LARGE', { token: ({ token }) => token, proof: LONG }],
];

/** 64 bytes leave four bits of the last character unused, so only these four are canonical. */
const CANONICAL_ENDS = 'AQgw';

function withEnd(text: string, character: string): string {
  return text.slice(0, -1) + character;
}

/** Another character of the segment, which stays base64url. */
function withChange(text: string, segment: number): string {
  const segments = text.split('.');
  const one = segments[segment]!;
  segments[segment] = one.slice(0, 20) + (one[20] === 'A' ? 'B' : 'A') + one.slice(21);
  return segments.join('.');
}

const CHANGED: Case[] = [
  ...each(
    [1, 2],
    (segment): Case => [
      `a token with one character changed in segment ${segment}`,
      'TOKEN_BAD_SIGNATURE',
      { token: (first) => withChange(first.token, segment) },
    ],
  ),
  ...each(
    [1, 2],
    (segment): Case => [
      `a proof with one character changed in segment ${segment}`,
      'PROOF_BAD_SIGNATURE',
      { token: ({ token }) => token, proof: (first) => withChange(first.proof, segment) },
    ],
  ),
  // The next canonical end is another signature; one between two of them is the same bits in another spelling.
  ...each(
    [1, 2, 3],
    (step): Case => [
      `a token with another end, ${step} further`,
      'TOKEN_BAD_SIGNATURE',
      {
        token: ({ token }) =>
          withEnd(token, CANONICAL_ENDS[(CANONICAL_ENDS.indexOf(token.at(-1)!) + step) % 4]!),
      },
    ],
  ),
  ...each(
    ['B', 'R', 'h', 'x', '_'],
    (end): Case => [
      `a token that ends in ${end}`,
      'TOKEN_MALFORMED',
      { token: ({ token }) => withEnd(token, end) },
    ],
  ),
  ...each(
    ['B', 'R', 'h', 'x', '_'],
    (end): Case => [
      `a proof that ends in ${end}`,
      'PROOF_MALFORMED',
      { token: ({ token }) => token, proof: ({ proof }) => withEnd(proof, end) },
    ],
  ),
];

const CASES: readonly Case[] = [
  ['the rightful device', null, {}],
  ...COPIED_TOKEN,
  ...COPIED_PROOF,
  ...FORGED_PROOF,
  ...FORGED_TOKEN,
  ...OF_THE_SERVICE,
  ...GARBAGE_CASES,
  ...CHANGED,
];

/** Existing signatures of the same text in `committed` are kept. */
export function buildThiefVectors(committed: readonly Vector[]): Promise<VectorFile> {
  return buildFile(ABOUT, CASES, committed);
}
