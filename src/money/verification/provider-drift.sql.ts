/** SQL of `provider_drift`: the last comparison with the provider, and when the next one is due. */
import type { Db } from '../../base/db/pool.ts';
import type { Period } from './provider-book.sql.ts';

/** The first comparison is due `seconds` after the first process started. */
export async function insertDrift(db: Db, seconds: number): Promise<void> {
  await db.query({
    name: 'insert-drift',
    text: `insert into provider_drift (next_at) values (now() + make_interval(secs => $1))
           on conflict do nothing`,
    values: [seconds],
  });
}

/** If a comparison is due: the period to compare, and no other process finds it due for `everySeconds`. */
export async function claimComparison(
  db: Db,
  {
    everySeconds,
    backSeconds,
    graceSeconds,
  }: { everySeconds: number; backSeconds: number; graceSeconds: number },
): Promise<Period | undefined> {
  const { rows } = await db.query<Period>({
    name: 'claim-comparison',
    text: `update provider_drift set next_at = now() + make_interval(secs => $1) where next_at <= now()
           returning now() - make_interval(secs => $2) as since, now() - make_interval(secs => $3) as until`,
    values: [everySeconds, backSeconds, graceSeconds],
  });
  return rows[0];
}

export async function updateDrift(db: Db, differences: number): Promise<void> {
  await db.query({
    name: 'update-drift',
    text: 'update provider_drift set looked_at = now(), differences = $1',
    values: [differences],
  });
}

/** The next comparison is due `seconds` from now. */
export async function postponeComparison(db: Db, seconds: number): Promise<void> {
  await db.query({
    name: 'postpone-comparison',
    text: 'update provider_drift set next_at = now() + make_interval(secs => $1)',
    values: [seconds],
  });
}

export interface Drift {
  readonly differences: number;
  readonly ageSeconds: number;
}

export async function findDrift(db: Db): Promise<Drift | undefined> {
  const { rows } = await db.query<Drift>({
    name: 'find-drift',
    text: `select differences, extract(epoch from now() - looked_at)::float8 as "ageSeconds"
             from provider_drift`,
  });
  return rows[0];
}
