/** The rate cards of the database. A version never changes, so each is read once and cached. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Db, Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { assert } from '../../base/lib/assert.ts';
import { BUILT_IN_RATES, parseRateCard, type RateCard, type RateCardFile } from './rate-card.ts';
import {
  findNewestRateCard,
  findRateCard,
  insertRateCard,
  lockRateCards,
  type RateCardRow,
} from './rate-cards.sql.ts';

export class RateCards {
  readonly #byVersion = new Map<number, RateCard>();

  /** The card in effect now. */
  async current(db: Db): Promise<RateCard> {
    const row = await findNewestRateCard(db);
    assert(row, 'a rate card is loaded at the start');
    return this.#remember(row);
  }

  async version(db: Db, version: number): Promise<RateCard> {
    const known = this.#byVersion.get(version);
    if (known) return known;
    const row = await findRateCard(db, version);
    assert(row, 'rate card version');
    return this.#remember(row);
  }

  #remember(row: RateCardRow): RateCard {
    const card = { version: row.version, ...parseRateCard(row.card) };
    this.#byVersion.set(row.version, card);
    return card;
  }
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

/**
 * Make `card` the newest version, unless it already is. Without `card`, an empty database gets the
 * built-in one.
 *
 * Returns the version in effect and whether it is new.
 */
export async function loadRates(
  pool: Pool,
  card: RateCardFile | undefined,
): Promise<{ version: number; loaded: boolean }> {
  return inTransaction(pool, async (tx) => {
    await lockRateCards(tx);
    const newest = await findNewestRateCard(tx);
    if (newest && (card === undefined || isDeepStrictEqual(newest.card, card))) {
      return { version: newest.version, loaded: false };
    }
    const version = (newest?.version ?? 0) + 1;
    await insertRateCard(tx, version, card ?? BUILT_IN_RATES);
    return { version, loaded: true };
  });
}
