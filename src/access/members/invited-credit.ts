/** Invitations with what a founder has to know before the answer: the credit of the tenant that was signed up with the address. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findBalance, findBalances } from '../../money/accounts/accounts.sql.ts';
import type { Membership } from './member.ts';
import { findInvitation } from './memberships.sql.ts';

export interface Invitation extends Membership {
  /** Micros; `undefined` for a person who is no founder. */
  readonly balance: bigint | undefined;
}

export async function addBalances(db: Db, invitations: readonly Membership[]): Promise<Invitation[]> {
  const founded = invitations.filter(({ foundedAt }) => foundedAt !== null).map(({ tenant }) => tenant);
  const balances = founded.length > 0 ? await findBalances(db, founded) : new Map<TenantId, bigint>();
  return invitations.map((each) => ({ ...each, balance: balances.get(each.tenant) }));
}

/** The invitation that a no would leave with credit; `undefined`: there is none, or it has no credit. */
export async function findInvitedCredit(
  db: Db,
  email: string,
  tenant: TenantId,
): Promise<(Invitation & { readonly balance: bigint }) | undefined> {
  const found = await findInvitation(db, email, tenant);
  if (!found?.foundedAt) return undefined;
  const balance = await findBalance(db, tenant);
  return balance > 0n ? { ...found, balance } : undefined;
}
