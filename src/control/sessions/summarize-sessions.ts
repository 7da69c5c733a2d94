/** What usage cost over a period by participant, key or customer: the sums of sessions, and what belongs to none. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { summarizeUsage } from '../../money/usage/summarize-usage.ts';
import type { Measures } from '../../money/usage/usage-summary.ts';
import { findAssignedUntil } from './session-cursors.sql.ts';
import { readSessionSums } from './session-sums.sql.ts';
import type { SessionSumsQuery, SessionSumsRow } from './session-sums.ts';

export interface SessionSummary {
  /** By time if each is asked for, then the most expensive first. */
  readonly rows: readonly SessionSumsRow[];
  readonly hasMore: boolean;
  /** What the ledger has: the sums of all groups, and `unassigned`. */
  readonly total: Measures;
  /** Usage that belongs to no session, or is not assigned yet. */
  readonly unassigned: Measures;
  /** Every charge before this time is assigned, or belongs to no session. */
  readonly assignedUntil: Date;
}

/** The ledger is read last. So what is charged or assigned meanwhile is unassigned, and the sums equal the ledger. */
export async function summarizeSessions(
  db: Db,
  tenant: TenantId,
  query: SessionSumsQuery,
): Promise<SessionSummary> {
  const { from, to, limit } = query;
  const assignedUntil = await findAssignedUntil(db, tenant);
  const { rows, assigned } = await readSessionSums(db, tenant, { ...query, limit: limit + 1 });
  const all = { groupBy: [], from, to, rooms: undefined, limit: 1, skip: 0 };
  const { total } = await summarizeUsage(db, tenant, all);
  return {
    rows: rows.slice(0, limit),
    hasMore: rows.length > limit,
    total,
    unassigned: subtract(total, assigned),
    assignedUntil,
  };
}

function subtract(one: Measures, other: Measures): Measures {
  return {
    records: one.records - other.records,
    seconds: one.seconds - other.seconds,
    egressBytes: one.egressBytes - other.egressBytes,
    ingressBytes: one.ingressBytes - other.ingressBytes,
    amount: one.amount - other.amount,
    unbilled: one.unbilled - other.unbilled,
  };
}
