/** A strict parser for the service's snapshot, a compact JWS. */
import { compactVerify } from 'jose';
import { hasExactly, isObject, type JsonObject } from './jws.ts';
import type { Revocations } from './revocations.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface ExpectedRevocations {
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: string;
  readonly keys: SigningKeys;
  readonly nowMs: number;
}

const KINDS: readonly unknown[] = ['user', 'device', 'range'];
const RANGE = /^[1-9]\d{0,2}\/[A-Za-z0-9_-]{22}$/;

/** Throws an error that says what is wrong, and quotes nothing of the text. */
export async function verifyRevocations(jws: string, expected: ExpectedRevocations): Promise<Revocations> {
  const { payload, protectedHeader } = await compactVerify(jws, ({ kid }) => expected.keys.get(kid), {
    algorithms: ['ES256'],
  });
  demand(protectedHeader.typ === 'revocations+jwt', 'typ');
  demand(hasExactly(protectedHeader, ['typ', 'alg', 'kid']), 'header');
  const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  demand(isObject(claims), 'claims');

  demand(claims.iss === expected.issuer, 'iss');
  demand(claims.aud === expected.audience, 'aud');
  demand(claims.tid === expected.tenant, 'tid');
  demand(isWhole(claims.seq), 'seq');
  demand(isWhole(claims.exp) && claims.exp * 1000 > expected.nowMs, 'exp');
  return readContents(claims, { seq: claims.seq, exp: claims.exp });
}

/**
 * Entries of an unknown shape are an error: a revocation that is ignored would not be enforced. Other members
 * only explain, and are ignored.
 */
function readContents(claims: JsonObject, { seq, exp }: Pick<Revocations, 'seq' | 'exp'>): Revocations {
  // Earlier versions of the service give neither credentials nor reasons.
  const { epochs, bans, mutes, closed, credentials = [], reasons = [] } = claims;
  demand(isListOf(epochs, isEpoch), 'epochs');
  demand(isListOf(bans, isBan), 'bans');
  demand(isListOf(mutes, isMute), 'mutes');
  demand(isListOf(closed, isText), 'closed');
  demand(isListOf(credentials, isText), 'credentials');
  demand(isListOf(reasons, isReason), 'reasons');
  return { seq, exp, epochs, bans, mutes, closed, credentials, reasons };
}

function isEpoch(entry: unknown): entry is Revocations['epochs'][number] {
  return Array.isArray(entry) && entry.length === 2 && isText(entry[0]) && isWhole(entry[1]);
}

function isBan(entry: unknown): entry is Revocations['bans'][number] {
  if (!Array.isArray(entry) || entry.length !== 4) return false;
  const [room, kind, value, until] = entry;
  if (!isText(room) || !isText(value) || !(until === null || isWhole(until))) return false;
  return KINDS.includes(kind) && (kind !== 'range' || RANGE.test(value));
}

function isMute(entry: unknown): entry is Revocations['mutes'][number] {
  return isListOf(entry, isText) && entry.length > 1;
}

function isReason(entry: unknown): entry is readonly [string, string] {
  return isListOf(entry, isText) && entry.length === 2;
}

function isListOf<T>(value: unknown, isOne: (entry: unknown) => entry is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`the snapshot is not valid: ${what}`);
}
