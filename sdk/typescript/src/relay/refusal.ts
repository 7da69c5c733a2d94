/**
 * All reasons for which a relay refuses a participant.
 *
 * Codes are stable and meant for programs; messages are meant for logs. Neither ever contains a part of
 * a token or a proof. `docs/tokens.md` says which check has which code.
 */
export const REFUSALS = {
  TOKEN_MALFORMED: 'the token is not a compact JWS of three canonical base64url segments holding JSON',
  TOKEN_TOO_LARGE: 'the token is longer than 4 KiB',
  TOKEN_WRONG_TYPE: 'the token is not of type participant+jwt',
  TOKEN_WRONG_ALGORITHM: 'the token is not signed with ES256',
  TOKEN_HEADER_INVALID: 'the header of the token holds something else than typ, alg and kid',
  TOKEN_UNKNOWN_KEY: 'the token names a signing key that is not published',
  KEYS_UNAVAILABLE: 'the signing keys could not be fetched',
  TOKEN_BAD_SIGNATURE: 'the signature of the token is wrong',
  TOKEN_WRONG_ISSUER: 'the token is from another issuer',
  TOKEN_WRONG_AUDIENCE: 'the token is for another audience',
  TOKEN_CLAIMS_INVALID: 'the token lacks a claim, or has one of a wrong type',
  TOKEN_EXPIRED: 'the token has expired',
  TOKEN_NOT_YET_VALID: 'the token is from the future',
  TOKEN_LIVES_TOO_LONG: 'the token lives longer than 15 minutes, or ends before it begins',
  TOKEN_NOT_BOUND: 'the token is not bound to exactly one device key',
  TENANT_NOT_SERVED: 'the tenant of the token is not served here',
  ROOM_NOT_SERVED: 'the room of the token is not served here',
  ROOM_NOT_CURRENT: 'the token is for an earlier room of the same name',
  REVOCATIONS_STALE: 'there are no current revocations to check the token against',
  ROOM_CLOSED: 'the room has been closed',
  TOKEN_REVOKED: 'the token has been revoked',
  BANNED: 'the user, the device or the address is banned',
  ADDRESS_UNKNOWN: 'addresses are banned, and the address of the participant is not known',
  PROOF_MALFORMED: 'the proof is not a compact JWS of three canonical base64url segments holding JSON',
  PROOF_TOO_LARGE: 'the proof is longer than 4 KiB',
  PROOF_WRONG_TYPE: 'the proof is not of type dpop+jwt',
  PROOF_WRONG_ALGORITHM: 'the proof is not signed with ES256',
  PROOF_HEADER_INVALID: 'the header of the proof holds something else than typ, alg and jwk',
  PROOF_KEY_INVALID: 'the key in the proof is not a public P-256 key of kty, crv, x and y alone',
  PROOF_BAD_SIGNATURE: 'the signature of the proof is wrong',
  PROOF_CLAIMS_INVALID: 'the proof lacks a claim, or has one of a wrong type',
  PROOF_OTHER_METHOD: 'the proof is for another method (htm)',
  PROOF_OTHER_URL: 'the proof is for another relay (htu)',
  PROOF_OTHER_TOKEN: 'the proof is for another token (ath)',
  PROOF_OTHER_CHALLENGE: 'the proof answers another challenge (nonce)',
  PROOF_OTHER_DEVICE: 'the proof is signed by another device than the token is bound to',
  CHALLENGE_UNUSABLE: 'the challenge was used, has expired, or was not issued here',
  DTLS_OTHER_CERTIFICATE: 'the DTLS certificate is not the one that the proof names',
  NOT_ADMITTED: 'the tenant has no credit for new sessions, or a budget of the token is spent',
  RENEWAL_OTHER_PARTICIPANT: 'the new token is for another user, room or device than the session',
} as const;

/** Why a participant may not come in: a key of `REFUSALS`. */
export type RefusalCode = keyof typeof REFUSALS;

/**
 * Why tokens were revoked; `watchdog`: a timer that the tenant has set; `credential_revoked`: the device credential with
 * which the token was minted is revoked.
 */
export const REVOCATION_REASONS = [
  'kicked',
  'banned',
  'closed',
  'ended',
  'watchdog',
  'credential_revoked',
] as const;
/** One of `REVOCATION_REASONS`. */
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

/** A participant that may not come in. */
export class AdmissionRefused extends Error {
  override readonly name = 'AdmissionRefused';
  /** Why. */
  readonly code: RefusalCode;
  /**
   * With `TOKEN_REVOKED` (`kicked`, `banned`, `watchdog`, `credential_revoked`), `BANNED` (`banned`) and `ROOM_CLOSED` (`closed` by
   * a moderator, `ended`, `watchdog`): what the client may tell the user; undefined if that is not known.
   */
  readonly reason: RevocationReason | undefined;

  constructor(
    code: RefusalCode,
    options: ErrorOptions & {
      /** Why tokens were revoked, if that is the cause. */
      reason?: RevocationReason | undefined;
    } = {},
  ) {
    super(REFUSALS[code], options);
    this.code = code;
    this.reason = options.reason;
  }
}
