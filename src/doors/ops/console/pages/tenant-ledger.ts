/** `/console/tenants/t_.../ledger`: every entry of a tenant, with filters. */
import { renderTenantId } from '../../../../base/tenants/tenant.ts';
import type { Answer } from '../../../consoles/answer.ts';
import { emptyState, named } from '../../../consoles/components.ts';
import { showEntries } from '../../../consoles/ledger-list.ts';
import { readNote } from '../read-note.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

export async function showTenantLedger(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  return showEntries(
    { db: call.deps.db, tenant: tenant.id, query: call.query },
    {
      path: `${tenantPath(tenant)}/ledger`,
      of: named(tenant.name),
      paymentsPath: `/console/payments?tenant=${renderTenantId(tenant.id)}`,
      empty: emptyState('The ledger is empty.', 'Its first entry is the first payment of the tenant.'),
      below: readNote(tenant),
    },
  );
}
