/** The usage records of a tenant, as they were charged. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerFilter, LedgerLine, LedgerRecord } from '../ledger/ledger-line.ts';
import { findSeqs } from '../ledger/walk-ledger.sql.ts';
import type { Role, Tier } from '../pricing/role.ts';

export interface RecordQuery {
  readonly room: string | undefined;
  readonly participant: string | undefined;
  readonly role: Role | undefined;
  readonly tier: Tier | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

export interface ListedRecord extends LedgerRecord {
  /** When it was charged. */
  readonly at: Date;
  /** The tenant was exempt: `amount` is what it would have cost. */
  readonly isUnbilled: boolean;
}

export async function filterRecords(
  db: Db,
  tenant: TenantId,
  { from, to, ...fields }: RecordQuery,
): Promise<LedgerFilter> {
  return { kinds: ['usage', 'unbilled'], ...fields, ...(await findSeqs(db, tenant, { from, to })) };
}

export function recordOf({ posting, record }: LedgerLine): ListedRecord {
  // Every line of the kinds `usage` and `unbilled` has one.
  return { ...record!, at: posting.at, isUnbilled: posting.kind === 'unbilled' };
}
