/** A strict parser for compact JWS, the format of both tokens and proofs. */
import { base64url, type CryptoKey, compactVerify } from 'jose';
import { AdmissionRefused } from './refusal.ts';

/** Both are ASCII, so a character is a byte. */
export const JWS_BYTES_MAX = 4096;

export type JsonObject = Record<string, unknown>;
type What = 'TOKEN' | 'PROOF';

/** The header of an unverified JWS. It must have exactly `members`. */
export function readHeader(
  jws: unknown,
  what: What,
  expected: { typ: string; members: string[] },
): JsonObject {
  if (typeof jws !== 'string') throw new AdmissionRefused(`${what}_MALFORMED`);
  if (jws.length > JWS_BYTES_MAX) throw new AdmissionRefused(`${what}_TOO_LARGE`);

  const segments = jws.split('.').map(decodeSegment);
  const [first] = segments;
  if (segments.length !== 3 || segments.includes(undefined)) throw new AdmissionRefused(`${what}_MALFORMED`);
  const header = first && parseObject(first);
  if (!header) throw new AdmissionRefused(`${what}_MALFORMED`);

  if (header.typ !== expected.typ) throw new AdmissionRefused(`${what}_WRONG_TYPE`);
  if (header.alg !== 'ES256') throw new AdmissionRefused(`${what}_WRONG_ALGORITHM`);
  if (!hasExactly(header, expected.members)) throw new AdmissionRefused(`${what}_HEADER_INVALID`);
  return header;
}

/** The claims of a JWS whose signature has been verified. */
export async function readVerified(jws: string, key: CryptoKey, what: What): Promise<JsonObject> {
  // Errors of jose and JSON.parse may quote their input, so they are not passed on as the cause.
  const verified = await compactVerify(jws, key, { algorithms: ['ES256'] }).catch(() => undefined);
  if (!verified) throw new AdmissionRefused(`${what}_BAD_SIGNATURE`);
  const claims = parseObject(verified.payload);
  if (!claims) throw new AdmissionRefused(`${what}_MALFORMED`);
  return claims;
}

export function hasExactly(object: object, members: string[]): boolean {
  return Object.keys(object).sort().join() === members.toSorted().join();
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Only the canonical encoding. Otherwise the unused bits of the last character allow several texts for one signature. */
function decodeSegment(segment: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(segment) || segment.length % 4 === 1) return undefined;
  const bytes = base64url.decode(segment);
  return base64url.encode(bytes) === segment ? bytes : undefined;
}

function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
