/** The rate cards of the database. A version never changes, so each is read once and cached. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db, Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { assert } from '../../base/lib/assert.ts';
import {
  BUILT_IN_RATES,
  parseRateCard,
  type RateCard,
  type RateCardFile,
  type RateCardRow,
} from './rate-card.ts';
import {
  findNewestRateCard,
  findRateCard,
  findRateCards,
  insertRateCard,
  lockRateCards,
} from './rate-cards.sql.ts';

/** How old the card may be that pages for everybody show. */
export const SHOWN_MS_MAX = 5_000;

export class RateCards {
  readonly #byVersion = new Map<number, RateCard>();
  #shown: { readonly card: Promise<RateCard>; readonly until: number } | undefined;

  /** The card in effect now. */
  async current(db: Db): Promise<RateCard> {
    return this.#remember(await getRateCard(db));
  }

  /** The card in effect, or the one before it for some seconds: a crowd that looks at prices costs one read in that time. */
  async shown(db: Db): Promise<RateCard> {
    const now = performance.now();
    if (!this.#shown || now >= this.#shown.until)
      this.#shown = { card: this.current(db), until: now + SHOWN_MS_MAX };
    const { card } = this.#shown;
    try {
      return await card;
    } catch (error) {
      // A failure is not kept.
      if (this.#shown?.card === card) this.#shown = undefined;
      throw error;
    }
  }

  async version(db: Db, version: number): Promise<RateCard> {
    const known = this.#byVersion.get(version);
    if (known) return known;
    const row = await findRateCard(db, version);
    assert(row, 'rate card version');
    return this.#remember(row);
  }

  #remember(row: RateCardRow): RateCard {
    const known = this.#byVersion.get(row.version);
    if (known) return known;
    const card = { version: row.version, ...parseRateCard(row.card) };
    this.#byVersion.set(row.version, card);
    return card;
  }
}

/** The card in effect now, as it is stored. */
export async function getRateCard(db: Db): Promise<RateCardRow> {
  const row = await findNewestRateCard(db);
  assert(row, 'a rate card is loaded at the start');
  return row;
}

/** Every version there ever was, the newest first: that one is in effect. */
export async function listRateCards(db: Db): Promise<readonly [RateCardRow, ...RateCardRow[]]> {
  const [newest, ...older] = (await findRateCards(db)).reverse();
  assert(newest, 'a rate card is loaded at the start');
  return [newest, ...older];
}

/** Read a rate card from a JSON file. Throws an `Error` that names the file and the fault. */
export async function readRatesFile(path: string): Promise<RateCardFile> {
  try {
    const card: unknown = JSON.parse(await readFile(path, 'utf8'));
    parseRateCard(card);
    return card as RateCardFile;
  } catch (error) {
    throw new Error(`rate card ${path}: ${(error as Error).message}`, { cause: error });
  }
}

export interface Loading {
  /** The version in effect. */
  readonly version: number;
  /** Whether it is new. */
  readonly loaded: boolean;
  /** Set if the card was not loaded because it equals this earlier version. */
  readonly superseded?: number;
}

/** The service, which reads the file of its setting RATES_FILE. */
export const RATES_FILE: Actor = { kind: 'system', id: 'rates_file' };

/**
 * Make `card` the newest version, unless it already is. Without `card`, an empty database gets the
 * built-in one.
 *
 * A card with the prices of an earlier version is not loaded: an old file must not bring old prices back
 * when its process restarts. `again` loads it all the same.
 */
export async function loadRates(
  pool: Pool,
  actor: Actor,
  card: RateCardFile | undefined,
  { again = false }: { again?: boolean } = {},
): Promise<Loading> {
  return inTransaction(pool, async (tx) => {
    await lockRateCards(tx);
    const rows = await findRateCards(tx);
    const newest = rows.at(-1);
    if (newest && (card === undefined || hasSamePrices(newest.card, card))) {
      return { version: newest.version, loaded: false };
    }
    const earlier = card && rows.findLast((row) => hasSamePrices(row.card, card));
    if (newest && earlier && !again) {
      return { version: newest.version, loaded: false, superseded: earlier.version };
    }
    const version = (newest?.version ?? 0) + 1;
    await insertRateCard(tx, version, card ?? BUILT_IN_RATES);
    await appendAudit(tx, null, actor, {
      action: 'rates_loaded',
      subject: String(version),
      before: newest ? { version: newest.version } : null,
      after: { version },
    });
    return { version, loaded: true };
  });
}

/** The same for an operator, to whom it fails with `invalid_request` where the card was not loaded. */
export async function loadDraft(
  db: Pool,
  operator: Actor,
  card: RateCardFile,
  options?: { again?: boolean },
): Promise<Loading> {
  const loading = await loadRates(db, operator, card, options);
  if (loading.superseded === undefined) return loading;
  throw new Failure('invalid_request', { message: describeSuperseded(loading) });
}

/** For the log and operators. */
export function describeSuperseded({ version, superseded }: Loading): string {
  return (
    `the rate card was not loaded: it is the old version ${superseded}, and version ${version} is in effect; ` +
    'to return to its prices, run: npm run admin -- rates load <file> --again'
  );
}

function hasSamePrices(one: RateCardFile, other: RateCardFile): boolean {
  return isDeepStrictEqual(parseRateCard(one), parseRateCard(other));
}
