/**
 * A continuous check of the ledger: each turn adds up the balances of some tenants.
 *
 * The database already keeps every balance equal to its newest posting, so a difference means that the
 * tables were changed by hand. A metric shows it, and the service is no longer ready.
 * Sums are kept in memory, so that a turn reads only newer postings; `npm run admin -- verify` reads all.
 */

import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { listAccountsAfter } from '../accounts/accounts.sql.ts';
import type { DriftDeps } from './drift-metrics.ts';
import { type Sum, sumFurther } from './verify.sql.ts';

const TENANTS_AT_ONCE = 200;

/** Returns the work of one turn. */
export function watchLedger(deps: DriftDeps): () => Promise<void> {
  const sums = new Map<TenantId, Sum>();
  const drifts = new Map<TenantId, bigint>();
  let after: TenantId | null = null;

  return async () => {
    const tenants = await listAccountsAfter(deps.db, after, TENANTS_AT_ONCE);
    after = tenants.length === TENANTS_AT_ONCE ? tenants.at(-1)! : null;
    const known = tenants.map((tenant) => sums.get(tenant) ?? { tenant, seq: 0n, sum: 0n });
    for (const { balance, ...sum } of await sumFurther(deps.db, known)) {
      sums.set(sum.tenant, sum);
      noteDrift(deps, drifts, sum.tenant, balance - sum.sum);
    }
    let drift = 0n;
    for (const each of drifts.values()) drift += each < 0n ? -each : each;
    deps.metrics.ledgerDrift.set(Number(drift));
  };
}

function noteDrift(deps: DriftDeps, drifts: Map<TenantId, bigint>, tenant: TenantId, drift: bigint): void {
  if (drift === 0n) {
    drifts.delete(tenant);
    return;
  }
  drifts.set(tenant, drift);
  deps.log.error(
    { tenant: renderTenantId(tenant), drift: drift.toString() },
    'a balance differs from its ledger',
  );
}
