/** Verifies statements offline: with the keys that the service published, and without a request. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readJson } from './rest.ts';
import type { Statement } from './rest-types.ts';

/** Why a text is no statement of the service, in the order of the checks. */
export const STATEMENT_REFUSALS = {
  MALFORMED: 'it is not a compact JWS',
  WRONG_TYPE: 'its type is not statement+jwt',
  WRONG_ALGORITHM: 'its algorithm is not ES256',
  HEADER_INVALID: 'its header must have alg, kid and typ, and nothing else',
  UNKNOWN_KEY: 'its key is not one of the keys',
  BAD_SIGNATURE: 'the signature does not fit: it was altered, or signed by another key',
  BAD_BODY: 'it is signed, but is no statement of version 1',
} as const;

/** The name of a reason. */
export type StatementRefusal = keyof typeof STATEMENT_REFUSALS;

/** The text is no statement that one of the keys has signed. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
  /** Why. */
  readonly code: StatementRefusal;

  constructor(code: StatementRefusal) {
    super(STATEMENT_REFUSALS[code]);
    this.code = code;
  }
}

/** What `/.well-known/statement-keys.json` holds: a JSON Web Key Set (RFC 7517). */
export interface StatementKeys {
  /** Public keys. Those of another kind than the service has are ignored. */
  readonly keys: readonly object[];
}

/**
 * The statement of `jws`, the text beside a statement of `billing.statement()`. Use what this returns, and not the statement
 * that lay beside the signature, and compare its `iss`, `tenant` and `month` with what you expect.
 *
 * Throws `StatementRefused` for a text that none of the keys has signed as a statement, and `TypeError` for keys that are no
 * set of keys. It does not add up the statement: the service has, before it signed.
 */
export function verifyStatement(jws: string, keys: StatementKeys): Statement {
  const known = readKeys(keys);
  const segments = String(jws).split('.').map(decodeSegment);
  const [header, payload, signature] = segments;
  if (segments.length !== 3 || !header || !payload || !signature) throw new StatementRefused('MALFORMED');
  const { typ, alg, kid, ...others } = readObject(header) ?? refuse('MALFORMED');
  if (typ !== 'statement+jwt') throw new StatementRefused('WRONG_TYPE');
  if (alg !== 'ES256') throw new StatementRefused('WRONG_ALGORITHM');
  if (kid === undefined || Object.keys(others).length > 0) throw new StatementRefused('HEADER_INVALID');
  const key = known.get(kid) ?? refuse('UNKNOWN_KEY');
  const input = Buffer.from(jws.slice(0, jws.lastIndexOf('.')));
  if (!verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature))
    throw new StatementRefused('BAD_SIGNATURE');
  return readStatement(payload) ?? refuse('BAD_BODY');
}

function refuse(code: StatementRefusal): never {
  throw new StatementRefused(code);
}

/** Only the canonical encoding: otherwise there would be several texts for one signature. */
function decodeSegment(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.toString('base64url') === segment ? bytes : undefined;
}

function readObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function readStatement(bytes: Buffer): Statement | undefined {
  const { version, iss, month } = readObject(bytes) ?? {};
  if (version !== 1 || typeof iss !== 'string' || typeof month !== 'string') return undefined;
  try {
    return readJson(bytes.toString()) as Statement;
  } catch {
    return undefined;
  }
}

function readKeys(set: StatementKeys): Map<unknown, KeyObject> {
  if (!Array.isArray(set?.keys)) throw new TypeError('keys must be a JSON Web Key Set');
  return new Map(set.keys.flatMap(readKey));
}

interface Jwk {
  readonly kid?: unknown;
  readonly kty?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly d?: unknown;
  readonly alg?: unknown;
  readonly use?: unknown;
}

/** A public P-256 key with its id; nothing for another one. */
function readKey(jwk: Jwk | null): [kid: string, key: KeyObject][] {
  const { kid, kty, crv, x = '', y = '', d, alg = 'ES256', use = 'sig' } = jwk ?? {};
  const isForStatements =
    d === undefined && alg === 'ES256' && use === 'sig' && kty === 'EC' && crv === 'P-256';
  if (typeof kid !== 'string' || !isForStatements) return [];
  try {
    return [[kid, createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' })]];
  } catch {
    // Its coordinates are not a point of the curve.
    return [];
  }
}
