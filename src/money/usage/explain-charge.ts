/** How the charge of one usage record came about. */
import type { Db } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findCarryBefore } from '../ledger/carry-before.sql.ts';
import { type ChargeTerms, findChargeTerms } from '../ledger/charge-terms.sql.ts';
import type { LedgerPosting } from '../ledger/ledger-line.ts';
import { findPosting } from '../ledger/walk-ledger.sql.ts';
import { INITIAL_CARRY, type Rounding } from '../pricing/carry.ts';
import { type Explanation, explainPrice } from '../pricing/explain-price.ts';
import { findRule, type Terms } from '../pricing/pricing-rule.ts';
import type { RateCards } from '../pricing/rate-cards.ts';
import { findRecordsById } from '../records/find-records.ts';
import { findRecordsOf } from '../records/records-of-postings.ts';
import { type ListedRecord, recordOf } from './list-records.ts';

export interface ExplainedCharge {
  readonly record: ListedRecord;
  readonly explanation: Explanation;
  /** The posting of the ledger that holds the record. */
  readonly posting: LedgerPosting;
}

/** Old postings do not name their rounding: the one that leads to the charged amount is theirs. */
const ROUNDINGS: Readonly<Record<string, readonly Rounding[]>> = {
  c: ['carry'],
  r: ['per_record'],
  u: ['carry', 'per_record'],
};

/**
 * Charges the record again, from the carry with which its posting began. `undefined`: there is no such record.
 *
 * Reads the records of the posting before this one, a few thousand at most.
 */
export async function explainCharge(
  { db, rates }: { readonly db: Db; readonly rates: RateCards },
  tenant: TenantId,
  id: string,
): Promise<ExplainedCharge | undefined> {
  const [found] = await findRecordsById(db, tenant, [id]);
  if (!found) return undefined;
  const { seq, line } = found;
  const posting = await findPosting(db, tenant, seq);
  const charge = (await findChargeTerms(db, tenant, [seq])).get(seq);
  assert(posting && charge, 'posting of a usage record');
  // Newest first: the record, and those before it.
  const place = { seq, line: line + 1 };
  const records = await findRecordsOf(db, tenant, [posting], { filter: {}, place, limit: line + 1 });
  const [record, ...before] = records;
  assert(record?.id === id && before.length === line, 'records of a posting');
  const rule = findRule(charge.ruleVersion);
  assert(rule, 'pricing rule of a posting');
  const card = await rates.version(db, charge.rateVersion);
  const start = await findStart(db, tenant, charge);
  const explanations = ROUNDINGS[charge.rounding]!.map((rounding) => {
    const terms = { rates: card, rule, rounding };
    return explainPrice(record, terms, settleAll(before.toReversed(), terms, start));
  });
  const explanation = explanations.find(({ amount }) => amount === record.amount);
  assert(explanation, 'charge that can be recomputed');
  return { record: recordOf({ posting, record }), explanation, posting };
}

/** The carry with which the posting begins. Unbilled records leave none to the next posting. */
async function findStart(db: Db, tenant: TenantId, { kind, seq }: ChargeTerms): Promise<bigint> {
  const carry = kind === 'usage' ? await findCarryBefore(db, tenant, seq) : undefined;
  return carry ?? INITIAL_CARRY;
}

/** The carry after these records. */
function settleAll(
  records: readonly Parameters<typeof explainPrice>[0][],
  { rates, rule, rounding }: Terms,
  start: bigint,
): bigint {
  return records.reduce(
    (carry, usage) => rule.settle(rule.price(usage, rates).numerator, carry, rounding).carry,
    start,
  );
}
