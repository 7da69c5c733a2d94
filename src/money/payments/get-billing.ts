/** The billing of a tenant. Source: specification 4.3. */
import type { Db, Pool } from '../../base/db/pool.ts';
import { inSnapshot } from '../../base/db/transaction.ts';
import { assert } from '../../base/lib/assert.ts';
import { admits, type Tenant, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { findBalance } from '../accounts/accounts.sql.ts';
import { listRecentEntries } from '../ledger/list-recent-entries.ts';
import type { LedgerEntry } from '../ledger/posting.ts';
import type { PaymentSettings } from './payment-settings.ts';
import { findPaymentSettings } from './payments.sql.ts';

export interface BilledTenant {
  readonly tenant: Tenant;
  readonly settings: PaymentSettings;
}

export interface Billing extends BilledTenant {
  /** Micros. */
  readonly balance: bigint;
  readonly admitted: boolean;
  /** Newest first. */
  readonly recent: readonly LedgerEntry[];
}

/** Reads all parts from one snapshot. */
export function getBilling(db: Pool, id: TenantId): Promise<Billing> {
  return inSnapshot(db, async (tx) => {
    const billed = await getBilledTenant(tx, id);
    const balance = await findBalance(tx, id);
    const recent = await listRecentEntries(tx, id);
    return { ...billed, balance, admitted: admits(billed.tenant, balance), recent };
  });
}

export async function getBilledTenant(db: Db, id: TenantId): Promise<BilledTenant> {
  const tenant = await findTenant(db, id);
  assert(tenant, 'tenant of the caller');
  return { tenant, settings: await findPaymentSettings(db, id) };
}
