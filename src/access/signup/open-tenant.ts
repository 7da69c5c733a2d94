/** Insert a tenant with its first member. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import { newTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { insertTenant } from '../../base/tenants/tenants.sql.ts';
import { INSERT_ACCOUNT } from '../../money/accounts/accounts.sql.ts';
import { INSERT_PAYMENT_SETTINGS } from '../../money/payments/payments.sql.ts';
import type { Member } from '../members/member.ts';
import { insertMember } from '../members/members.sql.ts';

/** What each tenant has from its beginning. */
export const TENANT_ROWS = [INSERT_ACCOUNT, INSERT_PAYMENT_SETTINGS] as const;

export interface OpenedTenant {
  readonly tenant: TenantId;
  readonly owner: Member;
}

/** The tenant is pending, and its address is that of its first owner. `name` and `email` must be valid. */
export async function openTenant(
  tx: Tx,
  actor: Actor,
  { name, email }: { readonly name: string; readonly email: string },
): Promise<OpenedTenant> {
  const tenant = newTenantId();
  await insertTenant(tx, { id: tenant, name, email }, TENANT_ROWS);
  const owner = await insertMember(tx, tenant, { email, role: 'owner' });
  assert(owner, 'first member of a tenant');
  // Without name and address of the customer, who may be a person.
  const after = { status: 'pending' };
  const subject = renderTenantId(tenant);
  await appendAudit(tx, tenant, actor, { action: 'tenant_created', subject, before: null, after });
  return { tenant, owner };
}
