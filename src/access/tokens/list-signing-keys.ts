/** The published keys, as in RFC 7517, 5, and for operators all keys there ever were. */
import type { BaseDeps } from '../../base/deps.ts';
import type { PublicJwk, SigningKeyRow } from './signing-key.ts';
import { findPublicKeys, findSigningKeys, findStatementKeys } from './signing-keys.sql.ts';

/** The keys that relays verify tokens with: pending, active and retiring ones. */
export function listPublicKeys(deps: BaseDeps): Promise<PublicJwk[]> {
  return findPublicKeys(deps.db);
}

/** The keys that statements are verified with: those above, and all that have signed before. */
export function listStatementKeys(deps: BaseDeps): Promise<PublicJwk[]> {
  return findStatementKeys(deps.db);
}

/** All of them, without their private parts, the newest first. */
export function listSigningKeys(deps: Pick<BaseDeps, 'db'>): Promise<SigningKeyRow[]> {
  return findSigningKeys(deps.db);
}
