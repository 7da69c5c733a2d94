/** A link to the console of a tenant whose mail is lost. An operator makes it, at the command line or at a console of their own. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import { hasConsole, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { CONSOLE_PATH } from './login-link.ts';
import { makeLink } from './request-login.ts';

/**
 * Returns the address of a page that logs in as an owner, once. What is changed there stands in the audit trail with
 * the operator. Fails with `not_found`, and with `tenant_not_active` unless the tenant is pending or active.
 */
export async function makeConsoleLink(
  db: Pool,
  operator: Actor,
  tenant: TenantId,
  publicUrl: string,
): Promise<string> {
  const { status } = await getTenant(db, tenant);
  if (!hasConsole(status)) throw new Failure('tenant_not_active');
  return inTransaction(db, async (tx) => {
    const subject = renderTenantId(tenant);
    await appendAudit(tx, tenant, operator, {
      action: 'console_link_made',
      subject,
      before: null,
      after: null,
    });
    return makeLink(tx, publicUrl, { proof: 'operator', tenant, operator: operator.id, next: CONSOLE_PATH });
  });
}
