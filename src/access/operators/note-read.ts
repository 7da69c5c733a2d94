/** Tell a tenant what operators read of it, in its audit trail. */
import { appendRead } from '../../base/audit/append-audit.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { OperatorSession } from './operator-session.ts';

/** Kinds of pages that show what the tenant has. */
export type ReadKind = 'ledger' | 'members' | 'room_sessions' | 'webhooks' | 'billing_details';

/** At most one entry an hour for each operator, tenant and kind of page. */
export async function noteRead(
  { db }: { readonly db: Db },
  { operator }: Pick<OperatorSession, 'operator'>,
  tenant: TenantId,
  kind: ReadKind,
): Promise<void> {
  const entry = { action: 'operator_read', subject: kind };
  await appendRead(db, tenant, { kind: 'operator', id: operator }, entry);
}
