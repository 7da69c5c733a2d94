/**
 * A watch over the ledger: balances are added up again all the time, some tenants at each turn.
 *
 * The database already keeps every balance equal to its newest posting, so a difference means that
 * somebody has been at the tables. It is shown as a metric, and the service is no longer ready.
 * What was added up once is remembered, so that a turn reads only the postings that came since;
 * `npm run admin -- verify` reads them all.
 */

import type { BaseDeps } from '../../base/deps.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { listAccountsAfter, type Sum, sumFurther } from './verify.sql.ts';

const EVERY_SECONDS = 15;
const TENANTS_AT_ONCE = 200;

export function startLedgerWatch(deps: BaseDeps): Repeating {
  const sums = new Map<TenantId, Sum>();
  const drifts = new Map<TenantId, bigint>();
  let after: TenantId | null = null;

  const turn = async () => {
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
  return repeat(EVERY_SECONDS, turn, (error) => deps.log.warn({ err: error }, 'the ledger was not checked'));
}

function noteDrift(deps: BaseDeps, drifts: Map<TenantId, bigint>, tenant: TenantId, drift: bigint): void {
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
