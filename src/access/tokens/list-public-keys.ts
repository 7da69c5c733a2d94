/** The published keys. Source: RFC 7517, 5. */
import type { BaseDeps } from '../../base/deps.ts';
import type { PublicJwk } from './signing-key.ts';
import { findPublicKeys, findStatementKeys } from './signing-keys.sql.ts';

/** The keys that relays verify tokens with: pending, active and retiring ones. */
export function listPublicKeys(deps: BaseDeps): Promise<PublicJwk[]> {
  return findPublicKeys(deps.db);
}

/** The keys that statements are verified with: those above, and all that have signed before. */
export function listStatementKeys(deps: BaseDeps): Promise<PublicJwk[]> {
  return findStatementKeys(deps.db);
}
