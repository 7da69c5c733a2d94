/**
 * Verifies what browsers answer: type, challenge, origin, relying party, presence and verification of the person,
 * algorithm and signature.
 *
 * The library needs 26 MB of memory. It is loaded by the first answer that is about a challenge and a passkey of ours.
 */
import type { NewPasskeyAnswer, SignedAnswer } from './answer.ts';
import { ALGORITHMS } from './offer-challenge.ts';
import type { RelyingParty } from './passkey.ts';
import type { NewPasskey, SigningPasskey } from './passkeys.sql.ts';

/** Why an answer was refused, for the log. */
export interface Refused {
  readonly refused: string;
}

export async function verifyNewPasskey(
  { id, origin }: RelyingParty,
  { response, challenge, transports, credential }: NewPasskeyAnswer,
): Promise<Omit<NewPasskey, 'name'> | Refused> {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return refusing(async () => {
    const { attestationObject } = response.response;
    const attestation = helpers.decodeAttestationObject(helpers.isoBase64URL.toBuffer(attestationObject));
    if (!hasNoCertificate(attestation)) return { refused: 'it came with a certificate' };
    const { verified, registrationInfo } = await server.verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) return { refused: 'the attestation is wrong' };
    const { id: made, publicKey, counter } = registrationInfo.credential;
    if (made !== response.id) return { refused: 'the id is not the one that was signed' };
    return { credential, publicKey, counter, transports, backedUp: registrationInfo.credentialBackedUp };
  });
}

/** The caller compares the counter, after the signature. */
export async function verifySigned(
  { id, origin }: RelyingParty,
  { response, challenge, handle }: SignedAnswer,
  passkey: SigningPasskey,
): Promise<{ readonly counter: number; readonly backedUp: boolean } | Refused> {
  if (handle && !handle.equals(passkey.handle)) return { refused: 'it is of another person' };
  const server = await import('@simplewebauthn/server');
  return refusing(async () => {
    const { verified, authenticationInfo } = await server.verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: { id: response.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
    });
    if (!verified) return { refused: 'the signature is wrong' };
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  });
}

interface Attestation {
  get(key: 'fmt'): string;
  get(key: 'attStmt'): { get(key: 'x5c'): unknown };
}

/** Certificates are not asked for, and to check one the library would ask hosts that the certificate names. */
function hasNoCertificate(attestation: Attestation): boolean {
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** The library throws for whatever is wrong with an answer. */
async function refusing<T>(verify: () => Promise<T | Refused>): Promise<T | Refused> {
  try {
    return await verify();
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
