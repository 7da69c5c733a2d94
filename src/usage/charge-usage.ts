/**
 * Charge a batch of usage records: the reason this service exists.
 *
 * Source: specification 4.12. One transaction claims the ids, prices the records, appends to the
 * ledger, moves the balance and the carry, and asks for an automatic top-up where one is due. The
 * answer comes from that commit.
 */
import type { Tx } from '../db/pool.ts';
import { inTransaction, violatesUnique } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import { type Account, appendPosting, lockAccount } from '../ledger/ledger.sql.ts';
import { RECENT_ENTRIES_MAX } from '../ledger/posting.ts';
import { requestTopUpIfBelow } from '../payments/request-top-up.ts';
import type { RateCard } from '../pricing/rate-card.ts';
import { INITIAL_CARRY, priceUsage, type Rounding, settlePrice } from '../pricing/usage-price.ts';
import { admits, type TenantId } from '../tenants/tenant.ts';
import {
  anyKnown,
  copyRecords,
  findKnown,
  type PricedRecord,
  recordConflicts,
  repeats,
  type StoredRecord,
  stored,
} from './usage.sql.ts';
import type { UsageRecord } from './usage-record.ts';

/** `total` is in micros, never negative. The three counts add up to the records of the batch. */
export interface ChargeOutcome {
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly total: bigint;
  readonly admitted: boolean;
}

interface Outcome extends ChargeOutcome {
  readonly conflicts: number;
  readonly topUpRequested: boolean;
}

export async function chargeUsage(
  deps: Deps,
  tenant: TenantId,
  records: readonly UsageRecord[],
): Promise<ChargeOutcome> {
  const stop = deps.metrics.chargeDuration.startTimer();
  const outcome = await chargeOnce(deps, tenant, records);
  stop();

  deps.metrics.countCharge(records.length, outcome);
  if (outcome.topUpRequested) deps.wakeTopUps();
  return outcome;
}

/**
 * Looking every id up first costs more than storing it, and nearly every batch is new. So a batch is
 * taken for new unless a few of its ids are known, and stored at once; should that turn out wrong,
 * the unique key refuses it, and the whole transaction is done again with the look-up.
 */
async function chargeOnce(deps: Deps, tenant: TenantId, records: readonly UsageRecord[]): Promise<Outcome> {
  const { first, repetitions } = splitRepetitions(records);
  const ids = first.map((record) => record.id);
  const probe = [ids[0], ids[ids.length >> 1], ids.at(-1)].filter((id) => id !== undefined);

  if (!(await anyKnown(deps.db, tenant, probe))) {
    try {
      return await inTransaction(deps.db, async (tx) => {
        const account = await lockAccount(tx, tenant);
        return settleBatch(deps, tx, account, first, compare(repetitions, first, new Map()));
      });
    } catch (error) {
      if (!violatesUnique(error, 'usage_records_pkey')) throw error;
    }
  }
  return inTransaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, tenant);
    const known = await findKnown(tx, tenant, ids);
    const fresh = first.filter((record) => !known.has(record.id));
    const late = records.filter((record) => known.has(record.id));
    const early = repetitions.filter((record) => !known.has(record.id));
    return settleBatch(deps, tx, account, fresh, compare([...late, ...early], fresh, known));
  });
}

/** An id repeated inside the batch counts once, by its first record. */
function splitRepetitions(records: readonly UsageRecord[]): {
  first: readonly UsageRecord[];
  repetitions: readonly UsageRecord[];
} {
  const first = new Map<string, UsageRecord>();
  for (const record of records) if (!first.has(record.id)) first.set(record.id, record);
  if (first.size === records.length) return { first: records, repetitions: [] };

  return {
    first: [...first.values()],
    repetitions: records.filter((record) => first.get(record.id) !== record),
  };
}

/** A record whose id was seen before; `conflict` when it came with other values then. */
interface Duplicate {
  readonly record: UsageRecord;
  readonly conflict: boolean;
}

/** Hold duplicates against what was accepted for their ids: before, or with this very batch. */
function compare(
  duplicates: readonly UsageRecord[],
  fresh: readonly UsageRecord[],
  known: ReadonlyMap<string, StoredRecord>,
): Duplicate[] {
  if (duplicates.length === 0) return [];
  const accepted = new Map([...known, ...fresh.map((record) => [record.id, stored(record)] as const)]);
  return duplicates.map((record) => ({ record, conflict: !repeats(accepted.get(record.id)!, record) }));
}

/** Price and store what is new, and say what became of the whole batch. */
async function settleBatch(
  deps: Deps,
  tx: Tx,
  account: Account,
  fresh: readonly UsageRecord[],
  duplicates: readonly Duplicate[],
): Promise<Outcome> {
  const conflicts = duplicates.filter((each) => each.conflict).map((each) => each.record);
  await recordConflicts(tx, account.tenant, conflicts);

  const after = fresh.length === 0 ? { account, total: 0n } : await postBatch(deps, tx, account, fresh);
  const topUpRequested = await requestTopUpIfBelow(tx, after.account, {
    charged: fresh.length > 0 && !account.exempt,
  });
  return {
    charged: account.exempt ? 0 : fresh.length,
    duplicates: duplicates.length,
    unbilled: account.exempt ? fresh.length : 0,
    total: after.total,
    admitted: admits(after.account, after.account.balance),
    conflicts: conflicts.length,
    topUpRequested,
  };
}

/** The records of an exempt tenant are priced for a shadow bill that moves neither balance nor carry. */
async function postBatch(
  deps: Deps,
  tx: Tx,
  account: Account,
  fresh: readonly UsageRecord[],
): Promise<{ account: Account; total: bigint }> {
  const rates = await deps.rates.version(tx, account.rateVersion);
  const startCarry = account.exempt ? INITIAL_CARRY : account.carry;
  const { priced, total, carry } = settleRecords(fresh, rates, startCarry, deps.config.billingRounding);

  await copyRecords(tx, account.tenant, account.lastSeq + 1n, priced);
  const after = await appendPosting(tx, account, {
    kind: account.exempt ? 'unbilled' : 'usage',
    amount: account.exempt ? 0n : -total,
    batch: {
      rateVersion: rates.version,
      carry,
      records: priced.length,
      newestIds: priced
        .slice(-RECENT_ENTRIES_MAX)
        .map((record) => record.id)
        .reverse(),
    },
  });
  return { account: after, total: account.exempt ? 0n : total };
}

/** Exact prices first, then whole micros in the order of the records. Pure. */
export function settleRecords(
  records: readonly UsageRecord[],
  rates: RateCard,
  startCarry: bigint,
  rounding: Rounding,
): { priced: PricedRecord[]; total: bigint; carry: bigint } {
  let carry = startCarry;
  let total = 0n;
  const priced = records.map((record) => {
    const price = priceUsage(record, rates);
    const settled = settlePrice(price.numerator, carry, rounding);
    carry = settled.carry;
    total += settled.amount;
    return { ...record, amount: settled.amount, capped: price.capped };
  });
  return { priced, total, carry };
}
