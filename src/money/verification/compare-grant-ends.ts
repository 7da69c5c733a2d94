/** Works out from the ledger again what was left of each grant at its end. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findAccount } from '../accounts/accounts.sql.ts';
import { findClock, findGrantsAmong, listTenantsWithGrants } from '../grants/grants.sql.ts';
import { replayGrants } from '../grants/read-lots.ts';
import { findPostedBalance } from '../ledger/posted-balance.sql.ts';
import { DIFFERENCES_MAX, type Difference } from './verify.sql.ts';

const ALWAYS = { from: new Date(0), to: new Date('9999-12-31T00:00:00Z') };

/** One tenant after the other. `db`: a snapshot. */
export async function compareGrantEnds(db: Db): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const tenant of await listTenantsWithGrants(db, { ...ALWAYS, tenant: undefined })) {
    differences.push(...(await compareEnds(db, tenant)));
    if (differences.length >= DIFFERENCES_MAX) return differences.slice(0, DIFFERENCES_MAX);
  }
  return differences;
}

async function compareEnds(db: Db, tenant: TenantId): Promise<Difference[]> {
  const { lastSeq } = await findAccount(db, tenant);
  const grants = await findGrantsAmong(db, tenant, { first: 0n, last: lastSeq });
  const now = await findClock(db, tenant, lastSeq);
  const { lots } = await replayGrants(db, tenant, grants, { at: now, seq: lastSeq });
  const differences: Difference[] = [];
  for (const [at, { id, endedBy, expiresAt, lastSeq: found, forfeited }] of grants.entries()) {
    if (endedBy === null) continue;
    const { left } = lots[at]!;
    if (left !== forfeited)
      differences.push(differ(tenant, `left at the end of grant ${id}`, left, forfeited));
    if (endedBy !== 'expired') continue;
    const { seq } = await findPostedBalance(db, tenant, expiresAt!);
    if (seq !== found) differences.push(differ(tenant, `last posting paid by grant ${id}`, seq, found));
  }
  return differences;
}

function differ(tenant: TenantId, what: string, expected: unknown, found: unknown): Difference {
  return { tenant, what, expected: String(expected), found: String(found) };
}
