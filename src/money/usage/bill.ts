/**
 * Computes the bill of an account for batches of usage records. Pure.
 *
 * Source: specification 4.12, charging rules 1 and 2.
 */

import { admits, type TenantId } from '../../base/tenants/tenant.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { INITIAL_CARRY } from '../pricing/carry.ts';
import type { Terms } from '../pricing/pricing-rule.ts';
import type { ChargedRecords } from '../records/copy-rows.ts';
import { repeats, type StoredRecord, stored, withoutErased } from '../records/stored-record.ts';
import type { UsageRecord } from '../records/usage-record.ts';
import type { UsageRecords } from '../records/usage-records.ts';

/** The records of one request. */
export interface Batch {
  readonly tenant: TenantId;
  readonly records: UsageRecords;
}

/** `total` is in micros, never negative. `charged`, `duplicates` and `unbilled` add up to the records. */
export interface ChargeOutcome {
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly total: bigint;
  readonly admitted: boolean;
  /** Duplicates whose values differ from the record that they repeat. */
  readonly conflicts: number;
}

/** Outcomes of batches that were charged together. */
export type Outcomes = ReadonlyMap<Batch, ChargeOutcome>;

/** What a transaction of several tenants answers. Batches of locked accounts have no outcome, nor have those of `repeating`. */
export interface SharedOutcomes {
  readonly outcomes: Outcomes;
  /** Tenants whose batches repeat archived records. Reading those takes long. */
  readonly repeating: ReadonlySet<TenantId>;
}

export interface Bill {
  /** The account before the charge. */
  readonly account: Account;
  /** The new records of each batch, in order. */
  readonly charged: readonly ChargedRecords[];
  /** The number of new records. */
  readonly count: number;
  /** Micros: the sum of the amounts. For an exempt account, the amount that it would have been charged. */
  readonly total: bigint;
  readonly carry: bigint;
  readonly terms: Terms;
  readonly conflicts: readonly UsageRecord[];
  readonly outcomes: Outcomes;
}

/** Records accepted before, by id; `undefined`: treat every record of the batches as new. */
export type Known = ReadonlyMap<string, StoredRecord> | undefined;

/**
 * Bill batches of one account, one after the other.
 *
 * The records of an exempt account are priced, but move neither balance nor carry.
 */
export function billBatches(account: Account, batches: readonly Batch[], known: Known, terms: Terms): Bill {
  const accepted = new Map(known);
  const outcomes = new Map<Batch, ChargeOutcome>();
  const charged: ChargedRecords[] = [];
  const conflicts: UsageRecord[] = [];
  let carry = account.exempt ? INITIAL_CARRY : account.carry;
  let total = 0n;
  let count = 0;

  for (const batch of batches) {
    const { records } = batch;
    const sorted = known ? sortRecords(records, accepted) : allNew(records);
    const settled = settleRecords(records, sorted.lines, terms, carry);
    carry = settled.carry;
    total += settled.total;
    count += sorted.count;
    charged.push({ records, lines: sorted.lines, count: sorted.count, ...settled });
    conflicts.push(...sorted.conflicts);
    outcomes.set(batch, {
      charged: account.exempt ? 0 : sorted.count,
      duplicates: records.length - sorted.count,
      unbilled: account.exempt ? sorted.count : 0,
      total: account.exempt ? 0n : settled.total,
      admitted: admits(account, account.exempt ? account.balance : account.balance - total),
      conflicts: sorted.conflicts.length,
    });
  }
  return { account, charged, count, total, carry, terms, conflicts, outcomes };
}

interface Sorted {
  readonly lines: Int16Array;
  readonly count: number;
  readonly conflicts: readonly UsageRecord[];
}

function allNew(records: UsageRecords): Sorted {
  return { lines: records.rows(), count: records.length, conflicts: [] };
}

/** Separate new records from those whose id was accepted before, by an earlier charge or by this one. */
function sortRecords(records: UsageRecords, accepted: Map<string, StoredRecord>): Sorted {
  const lines = new Int16Array(records.length);
  const conflicts: UsageRecord[] = [];
  let count = 0;
  for (let row = 0; row < records.length; row += 1) {
    const record = records.record(row);
    const earlier = accepted.get(record.id);
    lines[row] = earlier === undefined ? count : -1;
    if (earlier === undefined) {
      accepted.set(record.id, stored(record));
      count += 1;
    } else if (!repeats(earlier, record)) {
      conflicts.push(withoutErased(earlier, record));
    }
  }
  return { lines, count, conflicts };
}

/**
 * The cost of each new record, by row, and of all together, in micros. Duplicates cost nothing. Not in
 * arrays: the garbage collector would look at each element as long as the transaction runs.
 */
export interface Settled {
  readonly amounts: BigInt64Array;
  readonly capped: Uint8Array;
  readonly total: bigint;
  readonly carry: bigint;
}

/** Price the new records and settle them in order. */
export function settleRecords(
  records: UsageRecords,
  lines: Int16Array,
  { rates, rule, rounding }: Terms,
  startCarry: bigint,
): Settled {
  const amounts = new BigInt64Array(records.length);
  const capped = new Uint8Array(records.length);
  let carry = startCarry;
  let total = 0n;
  for (let row = 0; row < records.length; row += 1) {
    if (lines[row] === -1) continue;
    const price = rule.price(records.usage(row), rates);
    const settled = rule.settle(price.numerator, carry, rounding);
    carry = settled.carry;
    total += settled.amount;
    amounts[row] = settled.amount;
    capped[row] = price.capped ? 1 : 0;
  }
  return { amounts, capped, total, carry };
}
