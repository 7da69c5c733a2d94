/**
 * Adds what charges left in `usage_deltas` to the sums of usage by hour. Days and weeks are added up when they are over (`roll-up-usage.ts`).
 *
 * A charge appends its delta and waits for no sum. Readers of sums add the deltas that are left, so it makes no
 * difference when they are folded. They are added up here, because PostgreSQL would take four times as long to read them.
 */
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { inShares, type Share } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findCalendars } from '../calendar/time-zones.sql.ts';
import { addSums, type Delta, type HourSum, SIZE_MAX, shareRollUp, takeDeltas } from './fold-usage.sql.ts';
import { Total } from './total.ts';

const AT_ONCE = 1_000;

export async function foldUsage({ db }: { readonly db: Pool }): Promise<void> {
  await inShares(db, { table: 'usage_deltas', where: 'true' }, (share) => foldShare(db, share));
}

async function foldShare(db: Pool, share: Share): Promise<void> {
  let isMore: boolean;
  do {
    isMore = await inTransaction(db, async (tx) => {
      await shareRollUp(tx);
      const deltas = await takeDeltas(tx, AT_ONCE, share);
      if (deltas.length > 0) await addSums(tx, addUp(deltas, await findZoned(tx, deltas)), share);
      return deltas.length === AT_ONCE || deltas.reduce((sum, { size }) => sum + size, 0) >= SIZE_MAX;
    });
  } while (isMore);
}

/** Asked after the deltas were taken: a zone that a delta was charged after is found. */
async function findZoned(tx: Tx, deltas: readonly Delta[]): Promise<ReadonlySet<TenantId>> {
  const tenants = [...new Set(deltas.map(({ tenant }) => tenant))];
  return new Set((await findCalendars(tx, tenants)).keys());
}

const HOUR_MS = 3_600_000;
/** Midnight of every time zone is at the start of one. */
const QUARTER_MS = HOUR_MS / 4;

/** One sum for each tenant, hour, room, role and tier; of tenants with a time zone, for each quarter-hour. */
export function addUp(deltas: readonly Omit<Delta, 'size'>[], zoned: ReadonlySet<TenantId>): HourSum[] {
  const found = new Map<string, Omit<HourSum, 'measures'> & { readonly totals: readonly Total[] }>();
  for (const { tenant, at: charged, sums } of deltas) {
    const step = zoned.has(tenant) ? QUARTER_MS : HOUR_MS;
    const start = Math.floor(charged.getTime() / step) * step;
    const of = `${tenant} ${start} `;
    for (const [room, role, tier, ...measures] of sums) {
      const key = `${of}${role}${tier}${room}`;
      const sum = found.get(key);
      if (sum) {
        for (let at = 0; at < measures.length; at += 1) sum.totals[at]!.addWhole(measures[at]!);
        continue;
      }
      const totals = measures.map((value) => new Total().addWhole(value));
      found.set(key, {
        tenant_id: String(tenant),
        hour: new Date(start).toISOString(),
        room,
        role,
        tier,
        totals,
      });
    }
  }
  return Array.from(found.values(), ({ totals, ...row }) => ({
    ...row,
    measures: totals.map((total) => total.value()),
  }));
}
