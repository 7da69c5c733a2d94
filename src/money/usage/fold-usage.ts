/**
 * Adds what charges left in `usage_deltas` to the sums of usage by hour. Days and weeks are added up when they are over (`roll-up-usage.ts`).
 *
 * A charge appends its delta and waits for no sum. Readers of sums add the deltas that are left, so it makes no
 * difference when they are folded. They are added up here, because PostgreSQL would take four times as long to read them.
 */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { inShares, type Share } from '../../base/tenants/shares.ts';
import { addSums, type Delta, type HourSum, shareRollUp, takeDeltas } from './fold-usage.sql.ts';
import { Total } from './total.ts';

const AT_ONCE = 1_000;

export async function foldUsage({ db }: { readonly db: Pool }): Promise<void> {
  await inShares(db, { table: 'usage_deltas', where: 'true' }, (share) => foldShare(db, share));
}

async function foldShare(db: Pool, share: Share): Promise<void> {
  let taken: number;
  do {
    taken = await inTransaction(db, async (tx) => {
      await shareRollUp(tx);
      const deltas = await takeDeltas(tx, AT_ONCE, share);
      if (deltas.length > 0) await addSums(tx, addUp(deltas));
      return deltas.length;
    });
  } while (taken === AT_ONCE);
}

/** One sum for each tenant, hour, room, role and tier. */
export function addUp(deltas: readonly Delta[]): HourSum[] {
  const found = new Map<string, Omit<HourSum, 'measures'> & { readonly totals: readonly Total[] }>();
  for (const { tenant, hour, sums } of deltas) {
    const of = `${tenant} ${hour.getTime()} `;
    for (const [room, role, tier, ...measures] of sums) {
      const key = `${of}${role}${tier}${room}`;
      const sum = found.get(key);
      if (sum) {
        for (let at = 0; at < measures.length; at += 1) sum.totals[at]!.addWhole(measures[at]!);
        continue;
      }
      const totals = measures.map((value) => new Total().addWhole(value));
      found.set(key, { tenant_id: String(tenant), hour: hour.toISOString(), room, role, tier, totals });
    }
  }
  return Array.from(found.values(), ({ totals, ...row }) => ({
    ...row,
    measures: totals.map((total) => total.value()),
  }));
}
