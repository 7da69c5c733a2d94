/**
 * Recomputes every charge from the reported usage, with the rate card, the pricing rule and the
 * rounding that its posting names. `recompute-rules.ts` has the arithmetic.
 */
import type { Db } from '../../base/db/pool.ts';
import type { Rounding } from '../pricing/carry.ts';
import { parseRateCard, type RateCard } from '../pricing/rate-card.ts';
import { findRateCard } from '../pricing/rate-cards.sql.ts';
import { NAMED_IDS_MAX } from '../records/charged-record.ts';
import type { ReadRecord } from '../records/read-record.ts';
import {
  HALF,
  PARTS,
  RECOMPUTE_RULES,
  type RecomputeRule,
  type RecomputeRules,
  SHORTENED_BY,
} from './recompute-rules.ts';
import type { Difference } from './verify.sql.ts';

/** By the letter in the posting. If the rounding is unknown, a posting passes if either one explains it. */
const ROUNDINGS: Readonly<Record<string, readonly Rounding[]>> = {
  c: ['carry'],
  r: ['per_record'],
  u: ['carry', 'per_record'],
};

/** A posting recomputed with one rounding. */
interface Attempt {
  readonly rounding: Rounding;
  /** The running total so far, in parts. */
  total: bigint;
  /** The first record with a different amount. */
  wrong: Difference | undefined;
}

/** The posting being checked. */
interface Posting {
  readonly first: ReadRecord;
  readonly rates: RateCard | undefined;
  readonly rule: RecomputeRule | undefined;
  /** One for each rounding that may have been used. */
  readonly attempts: readonly Attempt[];
  lines: number;
  newestIds: string[];
  /** The first fault that does not depend on the rounding. */
  wrong: Difference | undefined;
  namedIds: readonly string[] | null;
}

/** Takes records in the order of charging, and reports at most one fault per posting. */
export class Recomputation {
  readonly #db: Db;
  readonly #rules: RecomputeRules;
  readonly #rates = new Map<number, RateCard | undefined>();
  #posting: Posting | undefined;
  /** The carry after the tenant's newest charge so far, in parts. */
  #carry = HALF;

  constructor(db: Db, rules = RECOMPUTE_RULES) {
    this.#db = db;
    this.#rules = rules;
  }

  async add(record: ReadRecord): Promise<Difference | undefined> {
    const last = this.#posting?.first;
    if (this.#posting && last?.tenant === record.tenant && last.seq === record.seq) {
      addRecord(this.#posting, record);
      return undefined;
    }
    const difference = this.finish();
    if (last?.tenant !== record.tenant) this.#carry = HALF;
    this.#posting = await this.#begin(record);
    addRecord(this.#posting, record);
    return difference;
  }

  /** Judge the current posting. Call this after the last record. */
  finish(): Difference | undefined {
    const posting = this.#posting;
    this.#posting = undefined;
    if (!posting) return undefined;
    const { kind, carry } = posting.first;
    // The next posting starts from the stored carry of this one, so that one fault is reported once.
    if (kind === 'usage' && carry !== null) this.#carry = carry * SHORTENED_BY;
    return judge(posting);
  }

  async #begin(first: ReadRecord): Promise<Posting> {
    const { kind, rateVersion, ruleVersion, rounding } = first;
    const start = kind === 'unbilled' ? HALF : this.#carry;
    return {
      first,
      rates: rateVersion === null ? undefined : await this.#findRates(rateVersion),
      rule: ruleVersion === null ? undefined : this.#rules[ruleVersion],
      attempts: (ROUNDINGS[rounding ?? ''] ?? []).map((each) => ({
        rounding: each,
        total: start,
        wrong: undefined,
      })),
      lines: 0,
      newestIds: [],
      wrong: undefined,
      namedIds: null,
    };
  }

  async #findRates(version: number): Promise<RateCard | undefined> {
    if (!this.#rates.has(version)) {
      const row = await findRateCard(this.#db, version);
      this.#rates.set(version, row && { version, ...parseRateCard(row.card) });
    }
    return this.#rates.get(version);
  }
}

function addRecord(posting: Posting, record: ReadRecord): void {
  if (record.line !== posting.lines) {
    posting.wrong ??= differ(record, `line of record ${record.id}`, posting.lines, record.line);
  }
  posting.lines += 1;
  posting.newestIds.push(record.id);
  if (posting.newestIds.length > NAMED_IDS_MAX) posting.newestIds.shift();
  posting.namedIds = record.newestIds;
  if (!posting.rates || !posting.rule) return;

  const { parts, capped } = posting.rule.price(record, posting.rates);
  const what = `record ${record.id} of posting ${record.seq}`;
  for (const attempt of posting.attempts) {
    const { amount, after } = posting.rule.charge(attempt.total, parts, attempt.rounding);
    attempt.total = after;
    if (record.amount !== amount) attempt.wrong ??= differ(record, what, amount, record.amount);
  }
  if (record.capped !== capped) posting.wrong ??= differ(record, `capped of ${what}`, capped, record.capped);
}

function judge(posting: Posting): Difference | undefined {
  const { first, rates, rule, attempts } = posting;
  const name = `posting ${first.seq}`;
  // `comparePostings` reports records without a posting.
  if (first.kind === null) return undefined;
  if (!rates) return differ(first, `rate card of ${name}`, `version ${first.rateVersion}`, 'none');
  if (!rule) return differ(first, `pricing rule of ${name}`, `version ${first.ruleVersion}`, 'none');
  const [likeliest] = attempts;
  if (!likeliest) return differ(first, `rounding of ${name}`, 'c, r or u', first.rounding);
  if (posting.wrong) return posting.wrong;

  if (!attempts.some((attempt) => !attempt.wrong && carryOf(attempt) === first.carry)) {
    return likeliest.wrong ?? differ(first, `carry of ${name}`, carryOf(likeliest), first.carry);
  }
  const newestIds = posting.newestIds.toReversed().join(' ');
  const namedIds = posting.namedIds?.join(' ') ?? 'none';
  return newestIds === namedIds ? undefined : differ(first, `newest ids of ${name}`, newestIds, namedIds);
}

/** As stored. */
function carryOf({ total }: Attempt): bigint {
  return (total % PARTS) / SHORTENED_BY;
}

function differ({ tenant }: ReadRecord, what: string, expected: unknown, found: unknown): Difference {
  return { tenant, what, expected: String(expected), found: String(found) };
}
