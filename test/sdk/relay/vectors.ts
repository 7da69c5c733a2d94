/** The test vectors of docs/vectors/participant-tokens.json. Everything but the signatures is derived from here. */
import { createHash, createHmac } from 'node:crypto';
import type { JWK } from 'jose';
import {
  AUDIENCE,
  DEVICE_THUMBPRINT,
  deviceKey,
  FINGERPRINT,
  hashed,
  hashedRange,
  ISSUER,
  type Json,
  jwks,
  NOW_SECONDS,
  proofClaims,
  proofHeader,
  publicOf,
  RANGE_SALT,
  RELAY_URL,
  ROOM_UID,
  sign,
  signingInput,
  signingKey,
  TENANT,
  thiefKey,
  tokenClaims,
  tokenHeader,
} from './support.ts';

export interface Vector {
  readonly name: string;
  /** null: the participant is admitted. */
  readonly code: string | null;
  readonly token: string;
  readonly proof: string;
  /** Differences from the file's `connection`. */
  readonly connection?: Partial<Connection>;
  readonly challenge_issued?: false;
  readonly revocations?: Json;
  readonly admitted?: false;
  /** Budgets that are spent. */
  readonly reached_budgets?: readonly string[];
  /** The running session that the token renews. */
  readonly renews?: typeof session;
}

export interface Connection {
  readonly challenge: string;
  readonly method: string;
  readonly url: string;
  readonly dtls_fingerprint: string;
  readonly address: string;
}

export interface VectorFile {
  readonly about: string;
  readonly now: number;
  readonly issuer: string;
  readonly audience: string;
  readonly jwks: typeof jwks;
  readonly keys: Record<string, JWK>;
  readonly served: { readonly tenant: string; readonly room: string; readonly room_uid: string };
  readonly connection: Connection;
  readonly vectors: readonly Vector[];
}

export const CHALLENGE = createHash('sha256').update('boxoffice test vectors: challenge').digest('base64url');

/** The changes of one vector. Everything else is valid. */
export interface Changes {
  claims?: Json;
  header?: Json;
  signedBy?: JWK;
  /** The whole token. A function gets the first vector. */
  token?: string | ((first: Vector) => string);
  proofClaims?: Json;
  proofHeader?: Json;
  provedBy?: JWK;
  /** The whole proof. A function gets the first vector. */
  proof?: string | ((first: Vector) => string);
  rest?: Partial<Vector>;
}

export type Case = readonly [name: string, code: string | null, changes: Changes];

const noRevocations = { seq: 1, exp: NOW_SECONDS + 60, epochs: [], bans: [], mutes: [], closed: [] };
export const revoked = (changes: Json): Changes => ({
  rest: { revocations: { ...noRevocations, ...changes } },
});
const unsigned = (alg: string) => signingInput(tokenHeader({ alg }), tokenClaims());
const session = { tenant: TENANT, username: 'ann', room_uid: ROOM_UID, device: DEVICE_THUMBPRINT };

const BUDGETED: Json = { bud: ['bu_1', 'bu_2'] };
const BANNED_RANGE = ['*', 'range', hashedRange(RANGE_SALT, '192.0.2.0/24'), null];

const CASES: readonly Case[] = [
  ['good', null, {}],
  ['a token of 15 minutes', null, { claims: { exp: NOW_SECONDS + 900 } }],
  ['a token from 60 seconds ahead', null, { claims: { iat: NOW_SECONDS + 60, nbf: NOW_SECONDS + 60 } }],
  ['a proof with a query and a fragment in htu', null, { proofClaims: { htu: `${RELAY_URL}?a=b#c` } }],
  ['a kick before the token was minted', null, revoked({ epochs: [[hashed('epoch', ROOM_UID, 'ann'), 3]] })],
  [
    'a policy with members of a later version',
    null,
    { claims: { policy: { e2ee_required: true, of_later: 5 } } },
  ],
  ['a claim of a later version', null, { claims: { of_later: 5 } }],
  ['a renewal without credit', null, { rest: { renews: session, admitted: false } }],
  [
    'a budget, and another one that is spent',
    null,
    { claims: BUDGETED, rest: { reached_budgets: ['bu_3'] } },
  ],
  [
    'a renewal with a budget that is spent',
    null,
    { claims: BUDGETED, rest: { renews: session, reached_budgets: ['bu_2'] } },
  ],

  ['two segments', 'TOKEN_MALFORMED', { token: 'e30.e30' }],
  ['more than 4 KiB', 'TOKEN_TOO_LARGE', { token: 'a'.repeat(4097) }],
  ['typ JWT', 'TOKEN_WRONG_TYPE', { header: { typ: 'JWT' } }],
  ['alg none', 'TOKEN_WRONG_ALGORITHM', { token: `${unsigned('none')}.` }],
  ['HS256 by the public key', 'TOKEN_WRONG_ALGORITHM', { token: signedByPublicKey() }],
  [
    'a key in the header',
    'TOKEN_HEADER_INVALID',
    { header: { jwk: publicOf(thiefKey) }, signedBy: thiefKey },
  ],
  ['an unknown kid', 'TOKEN_UNKNOWN_KEY', { header: { kid: '../keys/thief' }, signedBy: thiefKey }],
  ['signed by another key', 'TOKEN_BAD_SIGNATURE', { signedBy: thiefKey }],
  ['another issuer', 'TOKEN_WRONG_ISSUER', { claims: { iss: 'https://other.example' } }],
  ['another audience', 'TOKEN_WRONG_AUDIENCE', { claims: { aud: 'relay:other.example' } }],
  ['no epoch', 'TOKEN_CLAIMS_INVALID', { claims: { ep: undefined } }],
  ['a policy that is a text', 'TOKEN_CLAIMS_INVALID', { claims: { policy: 'e2ee_required' } }],
  [
    'a policy whose member is a text',
    'TOKEN_CLAIMS_INVALID',
    { claims: { policy: { e2ee_required: 'yes' } } },
  ],
  ['no salt', 'TOKEN_CLAIMS_INVALID', { claims: { salt: undefined } }],
  [
    'expired this instant',
    'TOKEN_EXPIRED',
    { claims: { iat: NOW_SECONDS - 600, nbf: NOW_SECONDS - 600, exp: NOW_SECONDS } },
  ],
  ['issued 61 seconds ahead', 'TOKEN_NOT_YET_VALID', { claims: { iat: NOW_SECONDS + 61 } }],
  ['a life of 901 seconds', 'TOKEN_LIVES_TOO_LONG', { claims: { exp: NOW_SECONDS + 901 } }],
  ['no cnf', 'TOKEN_NOT_BOUND', { claims: { cnf: undefined } }],
  ['two members in cnf', 'TOKEN_NOT_BOUND', { claims: { cnf: { jkt: DEVICE_THUMBPRINT, kid: 'any' } } }],
  ['another tenant', 'TENANT_NOT_SERVED', { claims: { tid: 't_0000000000000000' } }],
  ['another room', 'ROOM_NOT_SERVED', { claims: { room: 'attic' } }],
  ['an earlier room of the name', 'ROOM_NOT_CURRENT', { claims: { rid: 'room_00000000' } }],
  ['revocations that are too old', 'REVOCATIONS_STALE', revoked({ exp: NOW_SECONDS })],
  ['a closed room', 'ROOM_CLOSED', revoked({ closed: [hashed('room', ROOM_UID)] })],
  ['a kicked user', 'TOKEN_REVOKED', revoked({ epochs: [[hashed('epoch', ROOM_UID, 'ann'), 4]] })],
  ['a banned user', 'BANNED', revoked({ bans: [['*', 'user', hashed('user', TENANT, 'ann'), null]] })],
  [
    'a banned device',
    'BANNED',
    revoked({
      bans: [
        [hashed('room', ROOM_UID), 'device', hashed('device', ROOM_UID, DEVICE_THUMBPRINT), NOW_SECONDS + 1],
      ],
    }),
  ],
  ['a banned address', 'BANNED', revoked({ bans: [BANNED_RANGE] })],

  ['no proof', 'PROOF_MALFORMED', { proof: '' }],
  ['a proof of more than 4 KiB', 'PROOF_TOO_LARGE', { proof: 'a'.repeat(4097) }],
  ['a proof with typ JWT', 'PROOF_WRONG_TYPE', { proofHeader: { typ: 'JWT' } }],
  ['a proof with alg ES384', 'PROOF_WRONG_ALGORITHM', { proofHeader: { alg: 'ES384' } }],
  ['a proof with a kid', 'PROOF_HEADER_INVALID', { proofHeader: { kid: 'device' } }],
  ['a private key in the proof', 'PROOF_KEY_INVALID', { proofHeader: { jwk: deviceKey } }],
  [
    'a key off the curve in the proof',
    'PROOF_KEY_INVALID',
    { proofHeader: { jwk: { ...publicOf(deviceKey), y: deviceKey.x } } },
  ],
  ['a proof signed by a thief', 'PROOF_BAD_SIGNATURE', { provedBy: thiefKey }],
  ['a proof without jti', 'PROOF_CLAIMS_INVALID', { proofClaims: { jti: undefined } }],
  ['a proof without a fingerprint', 'PROOF_CLAIMS_INVALID', { proofClaims: { dtls_fp: undefined } }],
  ['a proof for another method', 'PROOF_OTHER_METHOD', { proofClaims: { htm: 'GET' } }],
  [
    'a proof for another relay',
    'PROOF_OTHER_URL',
    { proofClaims: { htu: 'https://relay-2.example/connect' } },
  ],
  ['a proof for another token', 'PROOF_OTHER_TOKEN', { proofClaims: { ath: CHALLENGE } }],
  ['a proof for another challenge', 'PROOF_OTHER_CHALLENGE', { proofClaims: { nonce: DEVICE_THUMBPRINT } }],
  [
    'a proof by the key of a thief',
    'PROOF_OTHER_DEVICE',
    { proofHeader: { jwk: publicOf(thiefKey) }, provedBy: thiefKey },
  ],
  [
    'a challenge that was not issued or is used up',
    'CHALLENGE_UNUSABLE',
    { rest: { challenge_issued: false } },
  ],
  [
    'another DTLS certificate',
    'DTLS_OTHER_CERTIFICATE',
    { rest: { connection: { dtls_fingerprint: FINGERPRINT.replace(/^../, '00') } } },
  ],
  ['no credit', 'NOT_ADMITTED', { rest: { admitted: false } }],
  [
    'a budget that is spent',
    'NOT_ADMITTED',
    { claims: BUDGETED, rest: { reached_budgets: ['bu_2', 'bu_3'] } },
  ],
  [
    'a banned range, and an address that is not known',
    'ADDRESS_UNKNOWN',
    {
      rest: {
        ...revoked({ bans: [BANNED_RANGE] }).rest,
        connection: { address: '' },
      },
    },
  ],
  [
    'a renewal by another user',
    'RENEWAL_OTHER_PARTICIPANT',
    { rest: { renews: { ...session, username: 'bob' } } },
  ],
];

function signedByPublicKey(): string {
  const secret = JSON.stringify(publicOf(signingKey));
  const input = unsigned('HS256');
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

const ABOUT =
  'Participant tokens and proofs with the code that a relay answers; null admits. The private keys are for tests only: each is the SHA-256 of a sentence. See docs/tokens.md.';

export function buildVectors(committed: readonly Vector[]): Promise<VectorFile> {
  return buildFile(ABOUT, CASES, committed);
}

/** A file of vectors. Existing signatures of the same text in `committed` are kept. */
export async function buildFile(
  about: string,
  cases: readonly Case[],
  committed: readonly Vector[],
): Promise<VectorFile> {
  const known = committed.flatMap(({ token, proof }) => [token, proof]);
  async function signOnce(header: Json, claims: Json, key: JWK): Promise<string> {
    const input = signingInput(header, claims);
    return known.find((jws) => jws.startsWith(`${input}.`)) ?? (await sign(header, claims, key));
  }
  const vectors: Vector[] = [];
  const given = (text: Changes['token']) => (typeof text === 'function' ? text(vectors[0]!) : text);
  for (const [name, code, each] of cases) {
    const token =
      given(each.token) ??
      (await signOnce(
        tokenHeader(each.header),
        tokenClaims({ jti: name, ...each.claims }),
        each.signedBy ?? signingKey,
      ));
    const claims = proofClaims(token, CHALLENGE, { jti: name, ...each.proofClaims });
    const proof =
      given(each.proof) ??
      (await signOnce(proofHeader(each.proofHeader), claims, each.provedBy ?? deviceKey));
    vectors.push({ name, code, token, proof, ...each.rest });
  }
  return {
    about,
    now: NOW_SECONDS,
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks,
    keys: { signing: signingKey, device: deviceKey, thief: thiefKey },
    served: { tenant: TENANT, room: 'lobby', room_uid: ROOM_UID },
    connection: {
      challenge: CHALLENGE,
      method: 'CONNECT',
      url: RELAY_URL,
      dtls_fingerprint: FINGERPRINT,
      address: '192.0.2.7',
    },
    vectors,
  };
}
