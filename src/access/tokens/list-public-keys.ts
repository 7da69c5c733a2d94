/** The keys that relays verify tokens with: pending, active and retiring ones. Source: RFC 7517, 5. */
import type { BaseDeps } from '../../base/deps.ts';
import type { PublicJwk } from './signing-key.ts';
import { findPublicKeys } from './signing-keys.sql.ts';

export function listPublicKeys(deps: BaseDeps): Promise<PublicJwk[]> {
  return findPublicKeys(deps.db);
}
