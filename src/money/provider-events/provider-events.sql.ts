/** SQL of `provider_events` and `provider_cursor`, the sweeper's place in the provider's list. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { ParkedPayment } from '../parked/parked-events.sql.ts';

/**
 * Returns false if the provider event was handled before. One that failed so far is handled now; one that
 * is parked only if `again`.
 */
export async function insertEvent(
  tx: Tx,
  { id, type }: { id: string; type: string },
  { again = false }: { again?: boolean } = {},
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-provider-event',
    text: `insert into provider_events as e (id, type, outcome) values ($1, $2, 'processed')
           on conflict (id) do update
              set outcome = 'processed', reason = null, payment_id = null, tenant_id = null
            where e.outcome = 'failing' or ($3 and e.outcome = 'parked')`,
    values: [id, type, again],
  });
  return rowCount === 1;
}

export async function updateEventOutcome(
  tx: Tx,
  id: string,
  {
    outcome,
    reason,
    payment,
  }: { outcome: 'ignored' | 'parked'; reason: string; payment?: ParkedPayment | undefined },
): Promise<void> {
  await tx.query({
    name: 'update-event-outcome',
    text: `update provider_events set outcome = $2, reason = $3, payment_id = $4, tenant_id = $5
            where id = $1`,
    values: [id, outcome, reason, payment?.id ?? null, payment?.tenant ?? null],
  });
}

/** Handled or parked: the sweeper has nothing left to do for them. */
export async function findHandledEvents(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-handled-events',
    text: `select id from provider_events where id = any($1) and outcome <> 'failing'`,
    values: [ids],
  });
  return new Set(rows.map((row) => row.id));
}

/** How often an event has failed, and for how long. */
export interface Failures {
  readonly tries: number;
  readonly seconds: number;
}

/**
 * Count a failure, unless one was counted in the last `everySeconds`: several processes sweep the same
 * list. `undefined`: the event was handled or parked meanwhile.
 */
export async function countFailure(
  db: Db,
  { id, type }: { id: string; type: string },
  error: string,
  everySeconds: number,
): Promise<Failures | undefined> {
  const { rows } = await db.query<Failures>({
    name: 'count-event-failure',
    text: `insert into provider_events as e (id, type, outcome, reason, tries, tried_at)
           values ($1, $2, 'failing', $3, 1, now())
           on conflict (id) do update
              set reason = excluded.reason,
                  tries = e.tries + (e.tried_at <= now() - make_interval(secs => $4))::int,
                  tried_at = case when e.tried_at <= now() - make_interval(secs => $4) then now()
                                  else e.tried_at end
            where e.outcome = 'failing'
            returning tries, extract(epoch from now() - received_at)::float8 as seconds`,
    values: [id, type, error, everySeconds],
  });
  return rows[0];
}

/**
 * From when on the sweeper reads, by the provider's clock: its place minus `overlapSeconds`, or
 * `firstSeconds` back by the clock of the database.
 */
export async function findSweepStart(
  db: Db,
  { overlapSeconds, firstSeconds }: { overlapSeconds: number; firstSeconds: number },
): Promise<Date> {
  const { rows } = await db.query<{ at: Date }>({
    name: 'find-sweep-start',
    text: `select coalesce((select least(swept_until, now()) - make_interval(secs => $1)
             from provider_cursor),
                           now() - make_interval(secs => $2)) as at`,
    values: [overlapSeconds, firstSeconds],
  });
  return rows[0]!.at;
}

export async function updateSweptUntil(db: Db, at: Date): Promise<void> {
  await db.query({
    name: 'update-swept-until',
    text: `insert into provider_cursor (swept_until) values ($1)
           on conflict (only_row) do update
              set swept_until = greatest(provider_cursor.swept_until, excluded.swept_until)`,
    values: [at],
  });
}
