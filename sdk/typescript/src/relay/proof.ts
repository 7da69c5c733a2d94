/**
 * Proof of possession: the sender of the token holds the device key that it is bound to, signs here and
 * now, and owns the other end of the DTLS connection. Checks 8 and 9 of docs/tokens.md.
 *
 * The format is that of RFC 9449 (DPoP). The relay's own challenge replaces the device's
 * clock and the cache of used proofs.
 */
import { createHash } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { hasExactly, isObject, readHeader, readVerified } from './jws.ts';
import { AdmissionRefused } from './refusal.ts';
import { importPublicKey } from './signing-keys.ts';

/** SHA-256 as 32 lower-case hex pairs with colons. */
const FINGERPRINT = /^[0-9a-f]{2}(:[0-9a-f]{2}){31}$/;

export interface ExpectedProof {
  readonly token: string;
  readonly deviceThumbprint: string;
  readonly challenge: string;
  readonly method: string;
  readonly url: string;
}

/** Returns the fingerprint of the DTLS certificate that the device claims as its own. */
export async function verifyProof(proof: string, expected: ExpectedProof): Promise<string> {
  const { jwk } = readHeader(proof, 'PROOF', { typ: 'dpop+jwt', members: ['typ', 'alg', 'jwk'] });
  if (!isObject(jwk) || !hasExactly(jwk, ['kty', 'crv', 'x', 'y'])) {
    throw new AdmissionRefused('PROOF_KEY_INVALID');
  }
  const key = await importPublicKey(jwk);
  if (!key) throw new AdmissionRefused('PROOF_KEY_INVALID');
  const { htm, htu, ath, jti, iat, nonce, dtls_fp } = await readVerified(proof, key, 'PROOF');

  if (!isText(jti, /./) || !isText(dtls_fp, FINGERPRINT) || !Number.isSafeInteger(iat)) {
    throw new AdmissionRefused('PROOF_CLAIMS_INVALID');
  }
  if (htm !== expected.method) throw new AdmissionRefused('PROOF_OTHER_METHOD');
  if (targetOf(htu) !== targetOf(new URL(expected.url).href)) throw new AdmissionRefused('PROOF_OTHER_URL');
  if (ath !== createHash('sha256').update(expected.token).digest('base64url')) {
    throw new AdmissionRefused('PROOF_OTHER_TOKEN');
  }
  if (nonce !== expected.challenge) throw new AdmissionRefused('PROOF_OTHER_CHALLENGE');
  if ((await calculateJwkThumbprint(jwk)) !== expected.deviceThumbprint) {
    throw new AdmissionRefused('PROOF_OTHER_DEVICE');
  }
  return dtls_fp;
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value);
}

/** A URL in its normal form, without query and fragment (RFC 9449, 4.2 and 4.3). */
function targetOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  url.search = '';
  url.hash = '';
  return url.href;
}
