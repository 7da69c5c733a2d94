/**
 * Every charge computed again, from what was reported and the rate card of the time.
 *
 * The arithmetic is written a second time on purpose, and otherwise: over a denominator that nobody
 * has shortened, and each charge as the step of a running total. Charging and this file would have
 * to be wrong in the same way for a wrong charge to pass.
 */
import type { Db } from '../../base/db/pool.ts';
import { RECENT_ENTRIES_MAX } from '../ledger/posting.ts';
import { parseRateCard, type RateCard } from '../pricing/rate-card.ts';
import { findRateCard } from '../pricing/rate-cards.sql.ts';
import type { Role, Tier } from '../pricing/role.ts';
import type { ChargedRecord, Difference } from './verify.sql.ts';

const BYTES_PER_GIB = 1n << 30n;
const SECONDS_PER_1000_MINUTES = 60_000n;
/** Exact prices are integers over this many parts of a micro. */
const PARTS = BYTES_PER_GIB * SECONDS_PER_1000_MINUTES;
/** Carries are stored over a denominator shortened by this. */
const SHORTENED_BY = 32n;
const HALF = PARTS / 2n;

/** The carry that an account begins with, as it is stored. */
export const FIRST_CARRY = HALF / SHORTENED_BY;

const ROLES: Readonly<Record<string, Role>> = { h: 'host', a: 'audience', b: 'broadcast_audience' };
const TIERS: Readonly<Record<string, Tier>> = { a: 'audio', h: 'hd', f: 'full_hd', '2': '2k', k: '2k_plus' };

/** One posting under way. A deployment may change its rounding, so each posting is tried with both. */
interface Posting {
  readonly first: ChargedRecord;
  readonly rates: RateCard | undefined;
  /** In parts, where the posting began and where it is now. */
  readonly start: bigint;
  total: bigint;
  lines: number;
  newestIds: string[];
  /** The first record that is wrong with a carry, and the first that is wrong rounded by itself. */
  wrongCarried: Difference | undefined;
  wrongRounded: Difference | undefined;
  /** The first thing wrong whatever the rounding. */
  wrong: Difference | undefined;
  namedIds: readonly string[] | null;
}

/** Takes records in the order of charging, and yields what is wrong with each posting, at most one thing. */
export class Recomputation {
  readonly #db: Db;
  readonly #rates = new Map<number, RateCard | undefined>();
  #posting: Posting | undefined;
  /** What the tenant's newest charge so far has left, in parts. */
  #carry = HALF;

  constructor(db: Db) {
    this.#db = db;
  }

  async add(record: ChargedRecord): Promise<Difference | undefined> {
    const last = this.#posting?.first;
    if (this.#posting && last?.tenant === record.tenant && last.seq === record.seq) {
      addRecord(this.#posting, record);
      return undefined;
    }
    const difference = this.finish();
    if (last?.tenant !== record.tenant) this.#carry = HALF;
    this.#posting = {
      first: record,
      rates: record.rateVersion === null ? undefined : await this.#findRates(record.rateVersion),
      start: record.kind === 'unbilled' ? HALF : this.#carry,
      total: 0n,
      lines: 0,
      newestIds: [],
      wrongCarried: undefined,
      wrongRounded: undefined,
      wrong: undefined,
      namedIds: null,
    };
    addRecord(this.#posting, record);
    return difference;
  }

  /** Judge the posting under way; after the last record it is the caller's to ask for. */
  finish(): Difference | undefined {
    const posting = this.#posting;
    this.#posting = undefined;
    if (!posting) return undefined;
    const { kind, carry } = posting.first;
    // The next posting is judged by where this one says it ended, so that one fault is told once.
    if (kind === 'usage' && carry !== null) this.#carry = carry * SHORTENED_BY;
    return judge(posting);
  }

  async #findRates(version: number): Promise<RateCard | undefined> {
    if (!this.#rates.has(version)) {
      const row = await findRateCard(this.#db, version);
      this.#rates.set(version, row && { version, ...parseRateCard(row.card) });
    }
    return this.#rates.get(version);
  }
}

function addRecord(posting: Posting, record: ChargedRecord): void {
  if (record.line !== posting.lines) {
    posting.wrong ??= differ(record, `line of record ${record.id}`, posting.lines, record.line);
  }
  posting.lines += 1;
  posting.newestIds.push(record.id);
  if (posting.newestIds.length > RECENT_ENTRIES_MAX) posting.newestIds.shift();
  posting.namedIds = record.newestIds;
  if (!posting.rates) return;

  const { parts, capped } = price(record, posting.rates);
  const before = posting.start + posting.total;
  posting.total += parts;
  const carried = (before + parts) / PARTS - before / PARTS;
  const rounded = (parts + HALF) / PARTS;
  const what = `record ${record.id} of posting ${record.seq}`;
  if (record.amount !== carried) posting.wrongCarried ??= differ(record, what, carried, record.amount);
  if (record.amount !== rounded) posting.wrongRounded ??= differ(record, what, rounded, record.amount);
  if (record.capped !== capped) posting.wrong ??= differ(record, `capped of ${what}`, capped, record.capped);
}

function price(record: ChargedRecord, rates: RateCard): { parts: bigint; capped: boolean } {
  const fee = record.egressBytes * rates.platformFeePerGib * SECONDS_PER_1000_MINUTES;
  const ceiling =
    BigInt(record.seconds) *
    rates.ceilingPer1000Minutes[ROLES[record.role]!][TIERS[record.tier]!] *
    BYTES_PER_GIB;
  return ceiling < fee ? { parts: ceiling, capped: true } : { parts: fee, capped: false };
}

function judge(posting: Posting): Difference | undefined {
  const { first, rates, start, total } = posting;
  const name = `posting ${first.seq}`;
  // A record without a posting is found where records are counted.
  if (first.kind === null) return undefined;
  if (!rates) return differ(first, `rate card of ${name}`, `version ${first.rateVersion}`, 'none');
  if (posting.wrong) return posting.wrong;

  const isRounded = !posting.wrongRounded && first.carry === start / SHORTENED_BY;
  if (!isRounded) {
    if (posting.wrongCarried) return posting.wrongCarried;
    const carry = ((start + total) % PARTS) / SHORTENED_BY;
    if (first.carry !== carry) return differ(first, `carry of ${name}`, carry, first.carry);
  }
  const newestIds = posting.newestIds.toReversed().join(' ');
  const namedIds = posting.namedIds?.join(' ') ?? 'none';
  return newestIds === namedIds ? undefined : differ(first, `newest ids of ${name}`, newestIds, namedIds);
}

function differ({ tenant }: ChargedRecord, what: string, expected: unknown, found: unknown): Difference {
  return { tenant, what, expected: String(expected), found: String(found) };
}
