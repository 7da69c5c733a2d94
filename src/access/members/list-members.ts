/** The members of a tenant, in the order in which they were added. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Member } from './member.ts';
import { findMembers } from './members.sql.ts';

export async function listMembers({ db }: { readonly db: Db }, tenant: TenantId): Promise<Member[]> {
  return findMembers(db, tenant);
}
