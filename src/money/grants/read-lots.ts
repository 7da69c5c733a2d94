/** What is left of the grants of a tenant, now or at any earlier time. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPostedBalance } from '../ledger/posted-balance.sql.ts';
import type { Grant } from './grant.ts';
import { findGrantsAmong } from './grants.sql.ts';
import { type Lot, replay, sumInBalance, turningPoints } from './replay.ts';
import { sumUsageBetween } from './sum-usage.sql.ts';

/** A time, and the newest posting before it: later ones do not count. */
export interface AsOf {
  readonly at: Date;
  readonly seq: bigint;
}

/** A grant at that time. Amounts are in micros. */
export interface ReadLot extends Lot, Pick<Grant, 'id' | 'reason' | 'endedAt'> {
  /** It has ended, by its time or by an operator. */
  readonly isOver: boolean;
  /** What is left. Of a grant that is over: what was left then. */
  readonly left: bigint;
}

export interface ReadLots {
  /** Those that are open, and those that were open together with them, the oldest first. */
  readonly lots: readonly ReadLot[];
  /** What of the balance was granted. It holds what has ended, until a posting takes it. */
  readonly granted: bigint;
}

/** Read in one snapshot, or while the account is locked. It takes one range of an index without usage, since the oldest lot. */
export async function readLots(db: Db, tenant: TenantId, asOf: AsOf): Promise<ReadLots> {
  return replayGrants(db, tenant, await findRelated(db, tenant, asOf.seq), asOf);
}

/** `grants`: all of a time, the oldest first, and all that overlap with one of them. */
export async function replayGrants(
  db: Db,
  tenant: TenantId,
  grants: readonly Grant[],
  asOf: AsOf,
): Promise<ReadLots> {
  if (grants.length === 0) return { lots: [], granted: 0n };
  const timed: Omit<ReadLot, 'left'>[] = [];
  for (const grant of grants) timed.push(await lotOf(db, tenant, grant, asOf));
  const marks = await sumUsageBetween(db, tenant, turningPoints(timed, asOf.seq));
  const left = replay(timed, marks);
  return {
    lots: timed.map((lot) => ({ ...lot, left: left.get(lot.seq)! })),
    granted: sumInBalance(timed, left, asOf.seq),
  };
}

/** Grants that overlap in time depend on each other, so those before the open ones count as far back as they overlap. */
async function findRelated(db: Db, tenant: TenantId, last: bigint): Promise<Grant[]> {
  let first = last;
  for (;;) {
    const found = await findGrantsAmong(db, tenant, { first, last });
    const oldest = found[0]?.seq ?? first;
    if (oldest >= first) return found;
    first = oldest;
  }
}

/** The job may post an end late. The grant paid nothing after its end all the same. */
async function lotOf(
  db: Db,
  tenant: TenantId,
  { id, seq, amount, reason, expiresAt, endedAt, lastSeq, endSeq }: Grant,
  asOf: AsOf,
): Promise<Omit<ReadLot, 'left'>> {
  const wasTaken = endSeq !== null && endSeq <= asOf.seq;
  const isOver = wasTaken || (expiresAt !== null && expiresAt <= asOf.at);
  const lot = { id, seq, amount, reason, expiresAt, endedAt, endSeq, isOver };
  if (!isOver) return { ...lot, lastSeq: null };
  const last = lastSeq ?? (await findPostedBalance(db, tenant, expiresAt!)).seq;
  return { ...lot, lastSeq: last < asOf.seq ? last : asOf.seq };
}
