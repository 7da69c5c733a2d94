/** Signs and verifies compact JWS (RFC 7515): tokens, snapshots of revocations, statements. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Signer } from './signer.ts';
import { type PublicJwk, SIGNING_ALGORITHM } from './signing-key.ts';

/** `typ` is explicit, so that one kind is never mistaken for another (RFC 8725, 3.11). */
export interface JwsHeader {
  readonly kid: string;
  readonly typ: string;
}

export function signJws(signer: Signer, header: JwsHeader, claims: object): Promise<string> {
  return signText(signer, header, JSON.stringify(claims));
}

export async function signText(signer: Signer, { kid, typ }: JwsHeader, text: string): Promise<string> {
  const header = JSON.stringify({ alg: SIGNING_ALGORITHM, kid, typ });
  const input = `${encode(header)}.${encode(text)}`;
  const signature = await signer.sign(kid, Buffer.from(input));
  return `${input}.${signature.toString('base64url')}`;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** A JWS is refused; the message says why. */
export class JwsError extends Error {
  override readonly name = 'JwsError';
}

export interface VerifiedJws {
  readonly kid: string;
  /** What was signed. */
  readonly text: string;
}

/**
 * What was signed, if one of the keys has signed it as this type. Throws `JwsError`.
 *
 * Each segment has one spelling, so that a text with another byte is another text.
 */
export function verifyJws(jws: string, typ: string, keys: readonly PublicJwk[]): VerifiedJws {
  const segments = jws.split('.');
  const [header = '', payload = '', signature = ''] = segments;
  if (segments.length !== 3 || !segments.every(isCanonical)) throw new JwsError('it is not a JWS');
  const { alg, kid, typ: signedTyp } = readHeader(decode(header));
  if (signedTyp !== typ) throw new JwsError(`its type is ${JSON.stringify(signedTyp)}, not ${typ}`);
  if (alg !== SIGNING_ALGORITHM) throw new JwsError(`its algorithm is not ${SIGNING_ALGORITHM}`);
  if (header !== encode(JSON.stringify({ alg, kid, typ })))
    throw new JwsError('its header has other members');
  const key = keys.find((each) => each.kid === kid);
  if (!key) throw new JwsError(`the key ${JSON.stringify(kid)} is not among the keys`);
  const input = Buffer.from(`${header}.${payload}`);
  const isSigned = verify(
    'sha256',
    input,
    { key: openKey(key), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned) throw new JwsError('the signature does not fit: it was altered, or signed by another key');
  return { kid: key.kid, text: decode(payload) };
}

function isCanonical(segment: string): boolean {
  return segment !== '' && Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

function decode(segment: string): string {
  return Buffer.from(segment, 'base64url').toString();
}

function readHeader(text: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null) return header as Readonly<Record<string, unknown>>;
  } catch {
    // A header that is not JSON is refused like any other.
  }
  throw new JwsError('it is not a JWS');
}

function openKey({ kty, crv, x, y, kid }: PublicJwk): KeyObject {
  try {
    const key = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  } catch {
    // A key of another form is refused below.
  }
  throw new JwsError(`the key ${kid} is not one of P-256`);
}
