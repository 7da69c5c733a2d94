/** The participant token: its claims, and whether the service signed it. Checks 1 to 5 of docs/tokens.md. */
import { hasExactly, isObject, type JsonObject, readHeader, readVerified } from './jws.ts';
import { AdmissionRefused } from './refusal.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { Clock } from './usage/clock.ts';
import type { Role } from './usage/usage-record.ts';

export const LIFETIME_SECONDS_MAX = 900;
/** How far the service's clock may be ahead of ours. Expiry has no such leeway. */
export const SKEW_SECONDS_MAX = 60;

const ROLES: readonly Role[] = ['host', 'audience', 'broadcast_audience'];

/** The user of a token and its grant. */
export interface TokenClaims {
  /** `t_` and 16 hex digits. */
  readonly tenant: string;
  /** Normalised by the service. */
  readonly username: string;
  /** Name of the room. */
  readonly room: string;
  /** Distinguishes successive rooms of the same name. */
  readonly roomUid: string;
  /** What the user is in the room. */
  readonly role: Role;
  /** Rights that are not listed are denied. */
  readonly capabilities: readonly string[];
  /** 0 to 100. A participant may act only on lower ranks. */
  readonly rank: number;
  /** The revocation epoch of this user in this room when the token was minted. */
  readonly epoch: number;
  /** RFC 7638 thumbprint of the device's public key. */
  readonly deviceThumbprint: string;
  /** When it was minted. */
  readonly issuedAt: Date;
  /** The session ends at this time unless it is renewed before. */
  readonly expiresAt: Date;
  /** `jti`, for logs. */
  readonly tokenId: string;
  /** Id of the API key or device credential that the token was minted with: for logs, and `checkRevocations`. */
  readonly mintedBy: string;
  /** Hard budgets that pay for the session: for `budgetReached` of the feed. */
  readonly budgets: readonly string[];
  /** Secret of the tenant, for `checkRevocations`: banned ranges of addresses are hashed with it. */
  readonly rangeSalt: string;
  /** Whether the room takes only media with end-to-end encryption. */
  readonly e2eeRequired: boolean;
  /** Whether a participant who begins to publish is muted until the participant turns the microphone on. */
  readonly muteOnEntry: boolean;
}

export interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly clock: Pick<Clock, 'wallNow'>;
}

/** Verify a token alone, without the device that presents it. */
export async function verifyToken(token: string, expected: Expected): Promise<TokenClaims> {
  const header = readHeader(token, 'TOKEN', { typ: 'participant+jwt', members: ['typ', 'alg', 'kid'] });
  const key = await expected.keys.get(header.kid);
  const claims = await readVerified(token, key, 'TOKEN');

  if (claims.iss !== expected.issuer) throw new AdmissionRefused('TOKEN_WRONG_ISSUER');
  if (claims.aud !== expected.audience) throw new AdmissionRefused('TOKEN_WRONG_AUDIENCE');
  const { iat, exp } = checkTimes(claims, expected.clock.wallNow());
  const deviceThumbprint = readThumbprint(claims.cnf);
  return {
    tenant: readText(claims.tid),
    username: readText(claims.sub),
    room: readText(claims.room),
    roomUid: readText(claims.rid),
    role: readRole(claims.role),
    capabilities: readTexts(claims.cap),
    rank: readInteger(claims.rank),
    epoch: readInteger(claims.ep),
    deviceThumbprint,
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    tokenId: readText(claims.jti),
    mintedBy: readText(claims.key),
    budgets: readTexts(claims.bud ?? []),
    rangeSalt: readText(claims.salt),
    ...readPolicy(claims.policy),
  };
}

/** Its other members are ignored, as unknown claims are. */
function readPolicy(value: unknown = {}): Pick<TokenClaims, 'e2eeRequired' | 'muteOnEntry'> {
  if (!isObject(value)) throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  const { e2ee_required = false, mute_on_entry = false } = value;
  if (typeof e2ee_required !== 'boolean' || typeof mute_on_entry !== 'boolean') {
    throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  }
  return { e2eeRequired: e2ee_required, muteOnEntry: mute_on_entry };
}

function checkTimes(claims: JsonObject, nowMs: number): { iat: number; exp: number } {
  const [iat, nbf, exp] = [claims.iat, claims.nbf, claims.exp].map(readInteger) as [number, number, number];
  if (nowMs >= exp * 1000) throw new AdmissionRefused('TOKEN_EXPIRED');
  if (Math.max(iat, nbf) * 1000 > nowMs + SKEW_SECONDS_MAX * 1000) {
    throw new AdmissionRefused('TOKEN_NOT_YET_VALID');
  }
  if (exp <= iat || exp - iat > LIFETIME_SECONDS_MAX) throw new AdmissionRefused('TOKEN_LIVES_TOO_LONG');
  return { iat, exp };
}

/** `cnf` must contain `jkt` only: any other confirmation method could be weaker. */
function readThumbprint(cnf: unknown): string {
  const jkt = isObject(cnf) && hasExactly(cnf, ['jkt']) ? cnf.jkt : undefined;
  if (typeof jkt !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(jkt))
    throw new AdmissionRefused('TOKEN_NOT_BOUND');
  return jkt;
}

function readRole(value: unknown): Role {
  const role = ROLES.find((known) => known === value);
  if (!role) throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  return role;
}

function readTexts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  return value.map(readText);
}

function readText(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  return value;
}

function readInteger(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new AdmissionRefused('TOKEN_CLAIMS_INVALID');
  return value as number;
}
