/**
 * Who may come in: a participant token, and a proof that it is the device's own, by the nonce hand-shake of RFC 9449 (8).
 * The checks and their codes are those of docs/tokens.md; this file only gives them an HTTP status.
 */
import {
  type Admission,
  AdmissionRefused,
  type Participant,
  type RefusalCode,
  type TokenVerifier,
} from '../../sdk/typescript/src/relay/index.ts';
import { Refused } from './refused.ts';

/** What the request says. */
export interface Claim {
  readonly authorization: string | undefined;
  readonly proof: string | undefined;
  readonly method: string;
  /** The address of the resource, from the relay's settings and the path. */
  readonly url: string;
  readonly address: string;
  /** The fingerprint in the offer, or that of the session. */
  readonly fingerprint: string;
}

export function admit(verifier: TokenVerifier, claim: Claim): Promise<Admission> {
  return refusing(() => verifier.verify(attemptOf(claim)));
}

export function renew(verifier: TokenVerifier, previous: Participant, claim: Claim): Promise<Admission> {
  return refusing(() => verifier.renew(previous, attemptOf(claim)));
}

function attemptOf({ authorization, proof, fingerprint, ...rest }: Claim) {
  const [, token] = /^DPoP ([\w.-]+)$/i.exec(authorization ?? '') ?? [];
  if (token === undefined)
    throw new Refused(401, 'TOKEN_MISSING', 'send the token as Authorization: DPoP <token>');
  if (proof === undefined)
    throw new Refused(401, 'PROOF_MISSING', 'answer the challenge in DPoP-Nonce with a proof');
  return { ...rest, token, proof, challenge: nonceOf(proof), dtlsFingerprint: fingerprint };
}

/** The challenge that the proof answers. Whether it was issued here and is unused, the verifier decides. */
function nonceOf(proof: string): string {
  try {
    const payload: unknown = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString());
    return String((payload as { nonce?: unknown } | null)?.nonce);
  } catch {
    return '';
  }
}

async function refusing(verify: () => Promise<Admission>): Promise<Admission> {
  try {
    return await verify();
  } catch (error) {
    if (!(error instanceof AdmissionRefused)) throw error;
    throw new Refused(statusOf(error.code), error.code, error.message, error.reason);
  }
}

function statusOf(code: RefusalCode): number {
  if (code === 'NOT_ADMITTED') return 402;
  if (code === 'REVOCATIONS_STALE' || code === 'KEYS_UNAVAILABLE') return 503;
  if (
    ['BANNED', 'TOKEN_REVOKED', 'ROOM_CLOSED', 'ROOM_NOT_CURRENT', 'RENEWAL_OTHER_PARTICIPANT'].includes(code)
  ) {
    return 403;
  }
  return 401;
}
