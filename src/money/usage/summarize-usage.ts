/** Sums of usage over a period. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { readSums } from './usage-summary.sql.ts';
import type { Measures, SummaryQuery, UsageSummary } from './usage-summary.ts';

const NOTHING: Measures = {
  records: 0n,
  seconds: 0n,
  egressBytes: 0n,
  ingressBytes: 0n,
  amount: 0n,
  unbilled: 0n,
};

/** Equal to the ledger at any time: what a charge has committed is in the next summary. */
export async function summarizeUsage(db: Db, tenant: TenantId, query: SummaryQuery): Promise<UsageSummary> {
  const found = await readSums(db, tenant, { ...query, limit: query.limit + 1 });
  return {
    rows: found.rows.slice(0, query.limit),
    total: found.total ?? NOTHING,
    groups: found.groups,
    hasMore: found.rows.length > query.limit,
  };
}
