/** Sign a tenant up at the console. Unlike a signup over REST, it makes no key: its owner does, when it is needed. */
import { inTransaction } from '../../base/db/transaction.ts';
import { newTenantId } from '../../base/tenants/tenant.ts';
import { insertTenant } from '../../base/tenants/tenants.sql.ts';
import { insertMember } from '../members/members.sql.ts';
import { replaceSession } from '../sessions/open-session.ts';
import type { SignupDeps } from './sign-up.ts';

/**
 * Returns the secret of a session of the owner, whose address is not proved yet. Fails with `too_many_signups`.
 *
 * `before`: the session of this browser so far, which ends.
 */
export async function openAccount(
  deps: SignupDeps,
  { email, name }: { readonly email: string; readonly name: string },
  { address, before }: { readonly address: string; readonly before: Buffer | undefined },
): Promise<string> {
  await deps.signupLimit.count(address);
  const tenant = newTenantId();
  return inTransaction(deps.db, async (tx) => {
    await insertTenant(tx, { id: tenant, name, email });
    const owner = await insertMember(tx, tenant, { email, role: 'owner' });
    return replaceSession(tx, { tenant, proof: 'signup', member: owner!.id }, before);
  });
}
