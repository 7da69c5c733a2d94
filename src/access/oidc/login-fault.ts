/** Why a log-in at the issuer came to nothing. */

/**
 * - `stale`: this browser began no such log-in, or it was finished, or too long ago.
 * - `unavailable`: the issuer does not answer, or answers what is none.
 * - `declined`: the issuer says that the person may not, or does not want to log in.
 * - `invalid`: what the issuer says of the person cannot be trusted.
 * - `not_again`: the issuer did not ask the person to log in again, or does not say so.
 * - `unverified`: the issuer tells no address, or did not verify it.
 * - `other_person`: another person logged in again.
 * - `stranger`: no member or operator has this address.
 */
export type LoginFaultKind =
  | 'stale'
  | 'unavailable'
  | 'declined'
  | 'invalid'
  | 'not_again'
  | 'unverified'
  | 'other_person'
  | 'stranger';

export class LoginFault extends Error {
  override readonly name = 'LoginFault';
  readonly kind: LoginFaultKind;
  /** That was proved. */
  readonly email: string | undefined;

  /** `reason`: for the log, without secrets. */
  constructor(kind: LoginFaultKind, { reason, email }: { reason?: string; email?: string } = {}) {
    super(reason ?? kind);
    this.kind = kind;
    this.email = email;
  }
}
