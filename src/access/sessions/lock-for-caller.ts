/**
 * Changes of what may use a tenant: its keys, credentials, webhooks and members. They take turns, and one that came first but
 * waits for the end of its caller is refused: a key that was revoked makes no other one, nor does a member whose role has changed.
 */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { isWorkingKey } from '../rights/working-key.sql.ts';
import type { ActingCaller } from './session.ts';
import { findRoleOfSession } from './sessions.sql.ts';

/** Fails with `invalid_api_key`, or `permission_denied` for a session, if the key or session has ended, or its role has changed. */
export async function lockForCaller(
  tx: Tx,
  { tenant, keyId, sessionHash, sessionRole }: ActingCaller,
): Promise<void> {
  await lockTenant(tx, tenant);
  if (sessionHash) {
    const role = await findRoleOfSession(tx, sessionHash);
    if (role !== sessionRole) {
      const why = role === undefined ? 'this session has ended' : 'your role has changed';
      throw new Failure('permission_denied', { message: `permission denied: ${why}` });
    }
  }
  if (keyId !== undefined && !(await isWorkingKey(tx, tenant, keyId))) throw new Failure('invalid_api_key');
}
