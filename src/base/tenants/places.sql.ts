/**
 * Places under a limit of a tenant: SQL of `tenant_places`.
 *
 * Counting 10,000 things to make one more would be slow. So a row for each tenant and limit says how many more
 * may be created before they have to be counted again. Only creations write it, which makes it a lower bound:
 * what has ended, expired or been revoked since the last count is found by the next one.
 */
import pg from 'pg';
import type { Tx } from '../db/pool.ts';
import { assertBelowLimit, type LimitedTenant, limitOf, type TenantLimit } from './limits.ts';
import type { TenantId } from './tenant.ts';

/** A tenant that is about to hold one more of something. */
export interface LimitHolder extends LimitedTenant {
  readonly id: TenantId;
}

/**
 * Take a place for what this transaction has just inserted. Fails with `quota_exceeded` if there is none
 * left; the transaction must then roll back.
 *
 * `count` counts what the tenant holds, the new one included, and may stop at `most`. Transactions that take
 * the last places wait for each other here, so exactly as many succeed as there are places.
 */
export async function takePlace(
  tx: Tx,
  holder: LimitHolder,
  limit: TenantLimit,
  count: (most: number) => Promise<number>,
): Promise<void> {
  if (!(await takeFreePlace(tx, holder, limit))) await takeCountedPlace(tx, holder, limit, count);
}

/** Returns false if no place is known to be free: `takeCountedPlace()` counts. */
export async function takeFreePlace(tx: Tx, holder: LimitHolder, limit: TenantLimit): Promise<boolean> {
  const taken = await tx.query({
    name: 'take-place',
    text: `update tenant_places set free = free - 1
            where tenant_id = $1 and limit_name = $2 and max = $3 and free > 0`,
    values: [holder.id, limit.name, limitOf(holder, limit)],
  });
  return taken.rowCount === 1;
}

/** Like `takePlace()`, for a transaction that found no place known to be free. */
export async function takeCountedPlace(
  tx: Tx,
  holder: LimitHolder,
  limit: TenantLimit,
  count: (most: number) => Promise<number>,
): Promise<void> {
  const max = limitOf(holder, limit);
  await lockPlaces(tx, holder.id, limit.name, max);
  const held = await count(max + 1);
  assertBelowLimit(holder, limit, held - 1);
  await tx.query({
    name: 'set-free-places',
    text: 'update tenant_places set free = $3 where tenant_id = $1 and limit_name = $2',
    values: [holder.id, limit.name, max - held],
  });
}

/** How many rows `rows` selects, up to `most`: what `takePlace()` needs to count. `statement`: its name. */
export async function countUpTo(
  tx: Tx,
  statement: string,
  most: number,
  rows: string,
  values: readonly unknown[],
): Promise<number> {
  const counted = await tx.query<{ count: number }>({
    name: statement,
    text: `select count(*)::integer as count from (${rows} limit $${values.length + 1}) counted`,
    values: [...values, most],
  });
  return counted.rows[0]!.count;
}

/** Whether a statement that takes a place without asking first found that none was left. */
export function isLastPlaceTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'tenant_places_free_check';
}

/** The statement after this one sees what every earlier holder of the lock has created. */
async function lockPlaces(tx: Tx, tenant: TenantId, name: string, max: number): Promise<void> {
  await tx.query({
    name: 'lock-places',
    text: `insert into tenant_places (tenant_id, limit_name, max, free) values ($1, $2, $3, 0)
           on conflict (tenant_id, limit_name) do update set max = excluded.max, free = 0`,
    values: [tenant, name, max],
  });
}
