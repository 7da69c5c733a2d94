/**
 * Who is calling: the check of an API key.
 *
 * Source: specification 5. One message for every cause. A revoked key is refused at once and in
 * every process, because every check asks the database; what spares the database is never a cached
 * yes, only that text which cannot be a key is not looked up, and that an address which keeps
 * presenting wrong keys is turned away.
 */
import type { Deps } from '../deps.ts';
import { Failure } from '../failure.ts';
import type { TenantStatus } from '../tenants/tenant.ts';
import { type Caller, type KeyKind, keyIdOf, secretMatches } from './api-key.ts';

export interface AuthenticatedCaller extends Caller {
  readonly tenantStatus: TenantStatus;
}

/**
 * The caller behind an `Authorization` header.
 *
 * Fails with `invalid_api_key`, also for a working key of the other kind; with
 * `too_many_failed_keys` when the address has used up its wrong guesses.
 */
export async function authenticate(
  deps: Deps,
  authorization: string | undefined,
  kind: KeyKind,
  address: string,
): Promise<AuthenticatedCaller> {
  const [, plaintext] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const id = plaintext && keyIdOf(plaintext, deps.config.keyPrefix);
  if (!id) throw new Failure('invalid_api_key');

  const known = deps.failedKeys.isKnown(id);
  if (!known) deps.failedKeys.refuseIfBlocked(address);

  const key = await deps.keyLookups.find(id);
  if (!secretMatches(plaintext, key?.hash)) {
    await deps.failedKeys.count(address);
    throw new Failure('invalid_api_key');
  }
  deps.failedKeys.remember(id);
  if (key?.kind !== kind) throw new Failure('invalid_api_key');
  return { tenant: key.tenant, keyId: id, kind, tenantStatus: key.status };
}
