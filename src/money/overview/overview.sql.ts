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
}

/** `text`: part of a name or an address; `among`: these tenants, whatever their names. Without both, all. */
export async function findTenants(
  db: Db,
  {
    status,
    text,
    among,
    limit,
  }: Pick<TenantFilter, 'status' | 'limit'> & {
    readonly text: string | undefined;
    readonly among: readonly TenantId[] | undefined;
  },
): Promise<TenantLine[]> {
  const { name, where, values } = filtered('find-tenants', [limit], {
    status: status !== undefined && ['t.status = ?', status],
    among: among !== undefined && text === undefined && ['t.id = any(?::bigint[])', among],
    text: text !== undefined && [
      '(t.id = any(?::bigint[]) or strpos(lower(t.name), lower(?)) > 0 or strpos(lower(t.email), lower(?)) > 0)',
      among ?? [],
      text,
      text,
    ],
  });
  const { rows } = await db.query<TenantLine>({
    name,
    text: `select t.id, t.name, t.email, t.status, t.exempt, t.created_at as "createdAt", a.balance
             from tenants t join accounts a on a.tenant_id = t.id
            where true ${where} order by t.created_at desc, t.id limit $1`,
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
