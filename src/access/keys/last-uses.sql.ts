/** SQL of `last_uses` and `key_use_hours`. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type HourOfKey, KEY_USE_DAYS, type LastUse, type UsedKind } from './key-use.ts';

export interface Use {
  readonly tenant: TenantId;
  readonly kind: UsedKind;
  readonly id: string;
  /** How long ago the last one was, by a clock of this process that never goes back. */
  readonly secondsAgo: number;
  readonly address: LastUse['address'];
  readonly uses: number;
}

/** Each key at most once. A stamp never goes back, whichever process writes last. */
export async function upsertUses(db: Db, uses: readonly Use[]): Promise<void> {
  await db.query({
    name: 'upsert-last-uses',
    // In the order of the key, so that two processes wait for each other at most, and never in a circle.
    text: `insert into last_uses as l (tenant_id, kind, id, at, address)
           select tenant, kind, id, now() - make_interval(secs => ago), address
             from unnest($1::bigint[], $2::text[], $3::text[], $4::double precision[], $5::text[])
                    as u (tenant, kind, id, ago, address)
            order by tenant, kind, id
           on conflict (tenant_id, kind, id) do update set at = excluded.at, address = excluded.address
             where l.at < excluded.at`,
    values: [
      uses.map(({ tenant }) => tenant),
      uses.map(({ kind }) => kind),
      uses.map(({ id }) => id),
      uses.map(({ secondsAgo }) => secondsAgo),
      uses.map(({ address }) => address),
    ],
  });
}

/** Each key at most once. All of its uses count for the hour of the last one. */
export async function addKeyUses(db: Db, uses: readonly Use[]): Promise<void> {
  if (uses.length === 0) return;
  await db.query({
    name: 'add-key-uses',
    text: `insert into key_use_hours as h (tenant_id, key_id, hour, uses)
           select tenant, id, date_trunc('hour', now() - make_interval(secs => ago), 'UTC'), uses
             from unnest($1::bigint[], $2::text[], $3::double precision[], $4::bigint[]) as u (tenant, id, ago, uses)
            order by tenant, id
           on conflict (tenant_id, key_id, hour) do update set uses = h.uses + excluded.uses`,
    values: [
      uses.map(({ tenant }) => tenant),
      uses.map(({ id }) => id),
      uses.map(({ secondsAgo }) => secondsAgo),
      uses.map(({ uses }) => uses),
    ],
  });
}

/** Without hours in which it was not used, the oldest first. */
export async function findKeyUses(db: Db, tenant: TenantId, key: string): Promise<HourOfKey[]> {
  const { rows } = await db.query<HourOfKey>({
    name: 'find-key-uses',
    text: `select hour, uses from key_use_hours where tenant_id = $1 and key_id = $2 order by hour`,
    values: [tenant, key],
  });
  return rows;
}

/** Up to `limit` hours that are older than `KEY_USE_DAYS`. Returns how many were deleted. */
export async function deleteOldKeyUses(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete-old-key-uses',
    text: `delete from key_use_hours where (tenant_id, key_id, hour) in (
             select tenant_id, key_id, hour from key_use_hours
              where hour < now() - make_interval(days => $1) order by hour limit $2)`,
    values: [KEY_USE_DAYS, limit],
  });
  return rowCount ?? 0;
}

export async function findLastUses(
  db: Db,
  tenant: TenantId,
  kind: UsedKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LastUse>> {
  const { rows } = await db.query<LastUse & { id: string }>({
    name: 'find-last-uses',
    text: 'select id, at, address from last_uses where tenant_id = $1 and kind = $2 and id = any($3)',
    values: [tenant, kind, ids],
  });
  return new Map(rows.map(({ id, ...use }) => [id, use]));
}
