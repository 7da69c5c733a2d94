/** Sign a tenant up at the console. Unlike a signup over REST, it makes no key: its owner does, when it is needed. */
import { inTransaction } from '../../base/db/transaction.ts';
import { replaceSession } from '../logins/open-session.ts';
import type { From } from '../sessions/session.ts';
import { openTenant } from './open-tenant.ts';
import { SIGNUP, type SignupDeps } from './sign-up.ts';

/** Returns the secret of a session of the owner, whose address is not proved yet. Fails with `too_many_signups`. */
export async function openAccount(
  deps: SignupDeps,
  { email, name }: { readonly email: string; readonly name: string },
  from: From,
): Promise<string> {
  await deps.signupLimit.count(from.address);
  return inTransaction(deps.db, async (tx) => {
    const { tenant, owner } = await openTenant(tx, SIGNUP, { name, email });
    return replaceSession(tx, { tenant, proof: 'signup', member: owner.id }, from);
  });
}
