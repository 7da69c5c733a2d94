/** SQL of `last_uses`. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** What was used: an API key, or a device credential. */
export type UsedKind = 'key' | 'device';

export interface Use {
  readonly tenant: TenantId;
  readonly kind: UsedKind;
  readonly id: string;
  /** How long ago, by a clock of this process that never goes back. */
  readonly secondsAgo: number;
}

/** Each key at most once. A stamp never goes back, whichever process writes last. */
export async function upsertUses(db: Db, uses: readonly Use[]): Promise<void> {
  await db.query({
    name: 'upsert-last-uses',
    // In the order of the key, so that two processes wait for each other at most, and never in a circle.
    text: `insert into last_uses as l (tenant_id, kind, id, at)
           select tenant, kind, id, now() - make_interval(secs => ago)
             from unnest($1::bigint[], $2::text[], $3::text[], $4::double precision[]) as u (tenant, kind, id, ago)
            order by tenant, kind, id
           on conflict (tenant_id, kind, id) do update set at = excluded.at where l.at < excluded.at`,
    values: [
      uses.map(({ tenant }) => tenant),
      uses.map(({ kind }) => kind),
      uses.map(({ id }) => id),
      uses.map(({ secondsAgo }) => secondsAgo),
    ],
  });
}

export async function findLastUses(
  db: Db,
  tenant: TenantId,
  kind: UsedKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await db.query<{ id: string; at: Date }>({
    name: 'find-last-uses',
    text: 'select id, at from last_uses where tenant_id = $1 and kind = $2 and id = any($3)',
    values: [tenant, kind, ids],
  });
  return new Map(rows.map(({ id, at }) => [id, at]));
}
