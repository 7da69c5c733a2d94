/** SQL of `session_cursors`: how far each tenant's postings are assigned to sessions. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/**
 * Where to look for tenants with postings that are not assigned. `new charges`: those whose sums are not folded yet, which are few;
 * `all accounts` finds the others.
 */
export type Look = 'new charges' | 'all accounts';

const NEWEST: Readonly<Record<Look, string>> = {
  'new charges': 'select tenant_id, max(seq) as seq from usage_deltas group by tenant_id',
  'all accounts': 'select tenant_id, last_seq as seq from accounts where last_seq is not null',
};

/**
 * Tenants with postings that are not assigned, those whose last turn was longest ago first: one that has paid, then one that
 * never has, and so on. So a thousand that never paid do not delay the others. Without those of `leftOut`.
 */
export async function findBehind(
  db: Db,
  look: Look,
  limit: number,
  leftOut: readonly TenantId[],
): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: `find-behind-${look.replace(' ', '-')}`,
    text: (tenants) => `select n.tenant_id as tenant from (${NEWEST[look]}) as n
       join tenants t on t.id = n.tenant_id
       left join session_cursors c on c.tenant_id = n.tenant_id
      where n.seq > coalesce(c.seq, 0) and n.tenant_id <> all($2::bigint[]) ${tenants.and('n.tenant_id', 3)}
      order by row_number() over (partition by t.status = 'pending' order by coalesce(c.turned_at, '-infinity')),
               t.status = 'pending' limit $1`,
    values: [limit, leftOut],
  });
  return rows.map(({ tenant }) => tenant);
}

/** The age of the oldest charge that is not assigned, in seconds; 0: all are. */
export async function findOldestUnassigned(db: Db): Promise<number> {
  const rows = await onServers<{ seconds: number }>(db, {
    name: 'find-oldest-unassigned',
    text: (
      tenants,
    ) => `select coalesce(extract(epoch from now() - min(p.at)), 0)::float8 as seconds from accounts a
       left join session_cursors c on c.tenant_id = a.tenant_id
       cross join lateral (select at from postings p where p.tenant_id = a.tenant_id and p.seq = coalesce(c.seq, 0) + 1
                            limit 1) as p
      where a.last_seq > coalesce(c.seq, 0) ${tenants.and('a.tenant_id', 1)}`,
    values: [],
  });
  return Math.max(0, ...rows.map(({ seconds }) => seconds));
}

/** All charges before this time are assigned. */
export async function findAssignedUntil(db: Db, tenant: TenantId): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>({
    name: 'find-assigned-until',
    text: `select coalesce((select at from postings where tenant_id = $1 and seq = 1 + coalesce((
             select seq from session_cursors where tenant_id = $1), 0)), now()) as until`,
    values: [tenant],
  });
  return rows[0]!.until;
}

/** The last posting that is assigned, in statements about the tenant `$1`. */
export const ASSIGNED = '(select seq from session_cursors where tenant_id = $1)';

/**
 * Whether usage may belong to something: the tenant has a room, a session or a budget. Without any, participants need not be told
 * apart. Ask after reading the postings.
 */
export function hasUsagePlaces(tenant: TenantId): Statement<{ readonly hasPlaces: boolean }> {
  const has = (table: string) => `exists (select from ${table} where tenant_id = $1)`;
  return {
    name: 'has-usage-places',
    text: `select ${['rooms', 'sessions', 'budgets'].map(has).join(' or ')} as "hasPlaces"`,
    values: [tenant],
  };
}

/** Lock the tenant's turn until the transaction ends. No row: another process has it, or there was none yet. */
export function lockSessionCursor(tenant: TenantId): Statement<{ readonly tenant: TenantId }> {
  return {
    name: 'lock-session-cursor',
    text: 'select tenant_id as tenant from session_cursors where tenant_id = $1 for update skip locked',
    values: [tenant],
  };
}

export async function insertSessionCursor(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'insert-session-cursor',
    text: 'insert into session_cursors (tenant_id) values ($1) on conflict do nothing',
    values: [tenant],
  });
}

/** No turn of the tenant runs from now on until the transaction ends. */
export async function waitForAssigning(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'wait-for-assigning',
    text: `insert into session_cursors as c (tenant_id) values ($1)
           on conflict (tenant_id) do update set turned_at = c.turned_at`,
    values: [tenant],
  });
}

/** `seq`: the last posting that the turn has assigned; `null`: it could assign none. */
export function moveSessionCursor(tenant: TenantId, seq: bigint | null): Statement {
  return {
    name: 'move-session-cursor',
    text: 'update session_cursors set seq = coalesce($2, seq), turned_at = now() where tenant_id = $1',
    values: [tenant, seq],
  };
}
