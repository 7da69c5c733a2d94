/** SQL for what operators look at. Read-only. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { LimitChange } from '../../base/tenants/limits.ts';
import type { Tenant, TenantId, TenantStatus } from '../../base/tenants/tenant.ts';

export interface TenantLine extends Tenant {
  /** Micros. */
  readonly balance: bigint;
}

export interface TenantFilter {
  readonly status: TenantStatus | undefined;
  /** Part of a name or an address, or an id that `findOwners()` knows. */
  readonly search: string | undefined;
  readonly limit: number;
  /** How many come before those that are wanted; default 0. */
  readonly skip?: number;
}

const FITS = `(t.id = any($4::bigint[]) or strpos(lower(t.name), lower($3)) > 0 or strpos(lower(t.email), lower($3)) > 0)`;

/** Anyone can sign up with a name like another's. */
const RANK = `case when t.id = any($4::bigint[]) or lower($3) in (lower(t.name), lower(t.email)) then 0
                   when t.status in ('active', 'suspended', 'archived') then 1 else 2 end`;

/**
 * `text`: part of a name or an address; `among`: these tenants, whatever their names. Those that fit exactly come first, then those
 * that have paid, then the others, each the newest first. Without both, all tenants, the newest first.
 */
export async function findTenants(
  db: Db,
  {
    status,
    text,
    among,
    limit,
    skip = 0,
  }: Pick<TenantFilter, 'status' | 'limit' | 'skip'> & {
    readonly text: string | undefined;
    readonly among: readonly TenantId[] | undefined;
  },
): Promise<TenantLine[]> {
  const isSearch = text !== undefined;
  const { name, where, values } = filtered(
    'find-tenants',
    [limit, skip, ...(isSearch ? [text, among ?? []] : [])],
    {
      status: status !== undefined && ['t.status = ?', status],
      among: among !== undefined && !isSearch && ['t.id = any(?::bigint[])', among],
      text: isSearch && [FITS],
    },
  );
  const { rows } = await db.query<TenantLine>({
    name,
    text: `select t.id, t.name, t.email, t.status, t.exempt, t.created_at as "createdAt", a.balance
             from tenants t join accounts a on a.tenant_id = t.id
            where true ${where} order by ${isSearch ? `${RANK}, ` : ''}t.created_at desc, t.id limit $1 offset $2`,
    values,
  });
  return rows;
}

/** `carry` is over PRICE_DENOMINATOR; `conflicts` counts ids that were reported again with other values. */
export interface AccountOverview {
  readonly balance: bigint;
  readonly carry: bigint;
  readonly postings: bigint;
  readonly conflicts: bigint;
}

export async function findAccountOverview(db: Db, tenant: TenantId): Promise<AccountOverview> {
  const { rows } = await db.query<AccountOverview>(
    `select balance, carry, coalesce(last_seq, 0) as postings,
            (select count(*) from usage_conflicts c where c.tenant_id = a.tenant_id) as conflicts
       from accounts a where tenant_id = $1`,
    [tenant],
  );
  const row = rows[0];
  assert(row, 'account of the tenant');
  return row;
}

export interface StatusChangeLine {
  readonly at: Date;
  readonly from: TenantStatus;
  readonly to: TenantStatus;
  readonly reason: string;
  /** What the people of the tenant were told. */
  readonly told: string | null;
}

/** Oldest first. */
export async function listStatusChanges(db: Db, tenant: TenantId): Promise<StatusChangeLine[]> {
  const { rows } = await db.query<StatusChangeLine>(
    `select at, old_status as "from", new_status as "to", reason, told
       from tenant_status_changes where tenant_id = $1 order by at`,
    [tenant],
  );
  return rows;
}

/** The oldest first. */
export async function listLimitChanges(
  db: Db,
  tenant: TenantId,
): Promise<(LimitChange & { readonly at: Date; readonly reason: string | null })[]> {
  const { rows } = await db.query<LimitChange & { at: Date; reason: string | null }>(
    `select at, limit_name as name, old_value as "from", new_value as "to", reason
       from tenant_limit_changes where tenant_id = $1 order by at, limit_name`,
    [tenant],
  );
  return rows;
}

/** How many tenants there are of each status. */
export async function countTenants(db: Db): Promise<{ status: string; tenants: bigint; balance: bigint }[]> {
  const { rows } = await db.query<{ status: string; tenants: bigint; balance: bigint }>({
    name: 'count-tenants',
    text: `select t.status, count(*) as tenants, sum(a.balance)::bigint as balance
             from tenants t join accounts a on a.tenant_id = t.id group by t.status order by t.status`,
  });
  return rows;
}
