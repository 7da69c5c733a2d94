/**
 * What usage of the past would have cost with another rate card, to the micro.
 *
 * Only the card differs from the charge: each posting keeps its pricing rule and its rounding, and usage that
 * was not charged would not have been charged.
 */
import type { Db } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findCarryBefore } from '../ledger/carry-before.sql.ts';
import { ROUNDING_CODES } from '../ledger/ledger.sql.ts';
import { INITIAL_CARRY, type Rounding } from '../pricing/carry.ts';
import { findRule, type Terms } from '../pricing/pricing-rule.ts';
import type { RateCard, UnversionedRateCard } from '../pricing/rate-card.ts';
import { roleOf, tierOf } from '../pricing/role-codes.ts';
import type { PostedRecord, ReadRecord } from '../records/read-record.ts';

/** Micros: what the records cost, and what they would have cost. */
export interface Comparison {
  records: number;
  actual: bigint;
  simulated: bigint;
}

export interface ComparedTenant {
  readonly tenant: TenantId;
  readonly charged: Comparison;
  /** Usage of the time when the tenant was exempt: nothing of it was charged. */
  readonly unbilled: Comparison;
}

/** The posting whose records are being priced. */
interface Posting {
  readonly kind: 'usage' | 'unbilled';
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly terms: Terms;
  readonly comparison: Comparison;
  carry: bigint;
}

const ROUNDINGS = invert(ROUNDING_CODES);

/** The version of a card that was never loaded. */
const NO_VERSION = 0;

/** Takes the records of a period in the order of charging. Keeps one entry for each tenant. */
export class CardSimulation {
  readonly tenants: ComparedTenant[] = [];
  readonly #db: Db;
  readonly #rates: RateCard;
  readonly #assumedRounding: Rounding;
  #posting: Posting | undefined;
  /** What the tenant's charges would have left over so far. */
  #carry = INITIAL_CARRY;

  /** `assumedRounding`: of old postings that do not name theirs. */
  constructor(db: Db, card: UnversionedRateCard, assumedRounding: Rounding) {
    this.#db = db;
    this.#rates = { ...card, version: NO_VERSION };
    this.#assumedRounding = assumedRounding;
  }

  /** Fails on records that were charged by a pricing rule of a newer release. */
  async add(records: readonly ReadRecord[]): Promise<void> {
    for (const record of records) {
      const current = this.#posting;
      const isNext = current?.tenant !== record.tenant || current.seq !== record.seq;
      addRecord(isNext ? await this.#begin(record) : current, record);
    }
  }

  async #begin(first: ReadRecord): Promise<Posting> {
    assert(first.kind !== null, 'posting of a usage record');
    const { tenant, seq, kind } = first;
    const before = this.#posting;
    if (before?.tenant !== tenant) {
      this.tenants.push({ tenant, charged: newComparison(), unbilled: newComparison() });
      this.#carry = (await findCarryBefore(this.#db, tenant, seq)) ?? INITIAL_CARRY;
    } else if (before.kind === 'usage') {
      this.#carry = before.carry;
    }
    const { charged, unbilled } = this.tenants.at(-1)!;
    this.#posting = {
      kind,
      tenant,
      seq,
      terms: this.#termsOf(first),
      comparison: kind === 'usage' ? charged : unbilled,
      // As in `bill.ts`: unbilled records neither use nor move the carry.
      carry: kind === 'usage' ? this.#carry : INITIAL_CARRY,
    };
    return this.#posting;
  }

  #termsOf({ tenant, seq, ruleVersion, rounding }: PostedRecord): Terms {
    const rule = findRule(ruleVersion);
    if (!rule) {
      throw new Error(
        `posting ${seq} of ${renderTenantId(tenant)} was charged by pricing rule ${ruleVersion}, which is not known here`,
      );
    }
    return { rates: this.#rates, rule, rounding: ROUNDINGS[rounding] ?? this.#assumedRounding };
  }
}

function addRecord(posting: Posting, record: ReadRecord): void {
  const { rates, rule, rounding } = posting.terms;
  const usage = {
    role: roleOf(record.role),
    tier: tierOf(record.tier),
    seconds: record.seconds,
    egressBytes: record.egressBytes,
  };
  const { amount, carry } = rule.settle(rule.price(usage, rates).numerator, posting.carry, rounding);
  posting.carry = carry;
  posting.comparison.records += 1;
  posting.comparison.actual += record.amount;
  posting.comparison.simulated += amount;
}

/** The sums of several comparisons. */
export function addUp(comparisons: readonly Comparison[]): Comparison {
  const all = newComparison();
  for (const { records, actual, simulated } of comparisons) {
    all.records += records;
    all.actual += actual;
    all.simulated += simulated;
  }
  return all;
}

function newComparison(): Comparison {
  return { records: 0, actual: 0n, simulated: 0n };
}

function invert<Word extends string>(codes: Readonly<Record<Word, string>>): Readonly<Record<string, Word>> {
  return Object.fromEntries(Object.entries(codes).map(([word, code]) => [code, word])) as Record<
    string,
    Word
  >;
}
