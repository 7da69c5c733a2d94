/** Revoke a device credential at once. Tokens that were minted with it live until they expire. */
import { inTransaction } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import { Failure } from '../failure.ts';
import { markRevoked } from '../keys/key-lives.sql.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { lockCredential } from './device-credentials.sql.ts';

export async function revokeCredential(deps: Deps, tenant: TenantId, id: string): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    const credential = await lockCredential(tx, tenant, id);
    if (!credential) throw new Failure('not_found');
    if (!credential.revokedAt) await markRevoked(tx, 'device_credentials', tenant, id);
  });
}
