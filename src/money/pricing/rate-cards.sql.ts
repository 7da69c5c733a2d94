/** SQL of `rate_cards`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { RateCardFile, RateCardRow } from './rate-card.ts';

const COLUMNS = 'version, effective_at as "effectiveAt", card';

export async function findNewestRateCard(db: Db): Promise<RateCardRow | undefined> {
  const { rows } = await db.query<RateCardRow>({
    name: 'find-newest-rate-card',
    text: `select ${COLUMNS} from rate_cards order by version desc limit 1`,
  });
  return rows[0];
}

export async function findRateCard(db: Db, version: number): Promise<RateCardRow | undefined> {
  const { rows } = await db.query<RateCardRow>({
    name: 'find-rate-card',
    text: `select ${COLUMNS} from rate_cards where version = $1`,
    values: [version],
  });
  return rows[0];
}

export async function findRateCards(db: Db): Promise<RateCardRow[]> {
  const { rows } = await db.query<RateCardRow>({
    name: 'list-rate-cards',
    text: `select ${COLUMNS} from rate_cards order by version`,
  });
  return rows;
}

/** Any fixed number that nothing else locks. */
const LOADING = 7_302_771_402;

/**
 * Serializes loading, so that two processes that load the same file make one version. Not by a lock of the
 * table, which needs the right to change its rows.
 */
export async function lockRateCards(tx: Tx): Promise<void> {
  await tx.query({
    name: 'lock-rate-cards',
    text: 'select pg_advisory_xact_lock($1)',
    values: [LOADING],
  });
}

export async function insertRateCard(tx: Tx, version: number, card: RateCardFile): Promise<void> {
  await tx.query({
    name: 'insert-rate-card',
    text: 'insert into rate_cards (version, effective_at, card) values ($1, clock_timestamp(), $2)',
    values: [version, card],
  });
}
