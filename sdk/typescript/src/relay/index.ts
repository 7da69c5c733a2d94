/** For relays: admission and usage reports. */
export { AdmissionRefused, REFUSALS, type RefusalCode, type RevocationReason } from './refusal.ts';
export {
  followRevocations,
  type RevocationFeed,
  type RevocationFeedOptions,
  RevocationsError,
  type RevocationsErrorCode,
} from './revocation-feed.ts';
export { checkRevocations, type Revocations, type Subject } from './revocations.ts';
export type { Jwks } from './signing-keys.ts';
export type { TokenClaims } from './token.ts';
export {
  type Admission,
  type Attempt,
  createTokenVerifier,
  type Participant,
  type TokenVerifier,
  type TokenVerifierOptions,
} from './token-verifier.ts';
export * from './usage/index.ts';
