/** SQL of `provider_events` and `provider_cursor`, the sweeper's place in the provider's list. */
import type { Db, Tx } from '../../base/db/pool.ts';

/** Returns false if the provider event was handled before. */
export async function insertEvent(tx: Tx, id: string, type: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into provider_events (id, type, outcome) values ($1, $2, 'processed') on conflict (id) do nothing`,
    [id, type],
  );
  return rowCount === 1;
}

export async function updateEventOutcome(
  tx: Tx,
  id: string,
  { outcome, reason }: { outcome: 'ignored' | 'parked'; reason: string },
): Promise<void> {
  await tx.query('update provider_events set outcome = $2, reason = $3 where id = $1', [id, outcome, reason]);
}

export async function findHandledEvents(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>('select id from provider_events where id = any($1)', [ids]);
  return new Set(rows.map((row) => row.id));
}

/** The time up to which the provider's list was read; undefined before the first sweep. */
export async function findSweptUntil(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date }>('select swept_until as at from provider_cursor');
  return rows[0]?.at;
}

export async function updateSweptUntil(db: Db, at: Date): Promise<void> {
  await db.query(
    `insert into provider_cursor (swept_until) values ($1)
     on conflict (only_row) do update set swept_until = greatest(provider_cursor.swept_until, excluded.swept_until)`,
    [at],
  );
}
