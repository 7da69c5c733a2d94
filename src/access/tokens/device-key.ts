/** Public keys of devices, and their thumbprints (RFC 7638). */
import { hash } from 'node:crypto';
import { invalidRequest } from '../../base/failure.ts';

/** Source: RFC 7518, 6.2.1. Coordinates are 32 bytes in base64url each. */
export interface DeviceKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

/** Fails with `invalid_request` if the coordinates are not a point on the curve. */
export function thumbprintOf({ kty, crv, x, y }: DeviceKey): string {
  if (!isCanonical(x) || !isCanonical(y) || !isOnCurve(x, y)) {
    throw invalidRequest('key must be a point of P-256');
  }
  // The required members in the order of their names, without spaces (RFC 7638, 3).
  return hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');
}

/** Whether `text` can be a thumbprint: SHA-256 in base64url. */
export function isThumbprint(text: string): boolean {
  return isCanonical(text);
}

/** Parses the field `device` of a join. */
export function parseThumbprint(text: string): string {
  if (!isThumbprint(text)) throw invalidRequest('device must be a thumbprint: 32 bytes in base64url');
  return text;
}

/**
 * The thumbprint of a device that sends its key, its thumbprint, or both, which must agree.
 *
 * Older devices send only the thumbprint. Fails with `invalid_request`.
 */
export function findThumbprint(shown: { readonly key?: DeviceKey; readonly device?: string }): string {
  const given = shown.device === undefined ? undefined : parseThumbprint(shown.device);
  if (shown.key === undefined) {
    if (given === undefined) throw invalidRequest('key is required');
    return given;
  }
  const thumbprint = thumbprintOf(shown.key);
  if (given !== undefined && given !== thumbprint) {
    throw invalidRequest('device must be the thumbprint of key');
  }
  return thumbprint;
}

/** Each value has one spelling: unused bits of the last character must be zero. */
function isCanonical(text: string): boolean {
  return text.length === 43 && Buffer.from(text, 'base64url').toString('base64url') === text;
}

/** The field and the curve y^2 = x^3 - 3x + b of P-256. Source: FIPS 186-4, D.1.2.3. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** Twenty times as fast as `createPublicKey()`. The curve has a prime order, so every point on it is a valid key. */
function isOnCurve(x: string, y: string): boolean {
  const [ax, ay] = [coordinateOf(x), coordinateOf(y)];
  return ax < P && ay < P && (ay * ay - (ax * ax - 3n) * ax - B) % P === 0n;
}

function coordinateOf(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
}
