/** Public keys of devices, and their thumbprints (RFC 7638). */
import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { invalidRequest } from '../../base/failure.ts';

/** Source: RFC 7518, 6.2.1. Coordinates are 32 bytes in base64url each. */
export interface DeviceKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

/** Fails with `invalid_request` if the coordinates are not a point on the curve. */
export async function thumbprintOf({ kty, crv, x, y }: DeviceKey): Promise<string> {
  const jwk = { kty, crv, x, y };
  if (!isCanonical(x) || !isCanonical(y) || !isOnCurve(jwk)) {
    throw invalidRequest('key must be a point of P-256');
  }
  return calculateJwkThumbprint(jwk);
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
export async function findThumbprint(shown: {
  readonly key?: DeviceKey;
  readonly device?: string;
}): Promise<string> {
  const given = shown.device === undefined ? undefined : parseThumbprint(shown.device);
  if (shown.key === undefined) {
    if (given === undefined) throw invalidRequest('key is required');
    return given;
  }
  const thumbprint = await thumbprintOf(shown.key);
  if (given !== undefined && given !== thumbprint) {
    throw invalidRequest('device must be the thumbprint of key');
  }
  return thumbprint;
}

/** Each value has one spelling: unused bits of the last character must be zero. */
function isCanonical(text: string): boolean {
  return text.length === 43 && Buffer.from(text, 'base64url').toString('base64url') === text;
}

function isOnCurve(jwk: DeviceKey): boolean {
  try {
    createPublicKey({ key: { ...jwk }, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}
