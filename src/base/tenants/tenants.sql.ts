/** SQL of `tenants`, `tenant_status_changes`, `tenant_limit_changes` and `tenant_name_changes`. */
import type { Db, Tx } from '../db/pool.ts';
import { lockReferenceTables } from '../db/reference-tables.sql.ts';
import type { LimitChange, LimitOverrides } from './limits.ts';
import type { Tenant, TenantId, TenantStatus } from './tenant.ts';

const COLUMNS = `id, name, email, status, exempt, created_at as "createdAt"`;

/**
 * Insert a tenant, and what features keep for each tenant, in one statement. `rows`: inserts that take the id from a table
 * `tenant`.
 */
export async function insertTenant(
  tx: Tx,
  tenant: { id: TenantId; name: string; email: string },
  rows: readonly [string, ...string[]],
): Promise<void> {
  await lockReferenceTables(tx);
  const tables = rows.slice(0, -1).map((row, at) => `, row_${at} as (${row})`);
  await tx.query({
    name: 'insert-tenant',
    text: `with tenant as (insert into tenants (id, name, email) values ($1, $2, $3) returning id) ${tables.join('')}
           ${rows.at(-1)}`,
    values: [tenant.id, tenant.name, tenant.email],
  });
}

export async function findTenant(db: Db, id: TenantId): Promise<Tenant | undefined> {
  const { rows } = await db.query<Tenant>({
    name: 'find-tenant',
    text: `select ${COLUMNS} from tenants where id = $1`,
    values: [id],
  });
  return rows[0];
}

export async function lockTenant(tx: Tx, id: TenantId): Promise<Tenant | undefined> {
  const { rows } = await tx.query<Tenant>({
    name: 'lock-tenant',
    text: `select ${COLUMNS} from tenants where id = $1 for no key update`,
    values: [id],
  });
  return rows[0];
}

/** `reason`: for operators. `told`: for the people of the tenant. */
export async function updateStatus(
  tx: Tx,
  tenant: Pick<Tenant, 'id' | 'status'>,
  status: TenantStatus,
  reason: string,
  told?: string,
): Promise<void> {
  await tx.query({
    name: 'update-tenant-status',
    text: `with changed as (update tenants set status = $3 where id = $1 returning id)
           insert into tenant_status_changes (tenant_id, old_status, new_status, reason, told)
           select id, $2, $3, $4, $5 from changed`,
    values: [tenant.id, tenant.status, status, reason, told ?? null],
  });
}

/** Since when the tenant has its status, and what its people are told about it. `undefined`: since it was created. */
export async function findLastStatusChange(
  db: Db,
  tenant: TenantId,
): Promise<{ readonly at: Date; readonly told: string | null } | undefined> {
  const { rows } = await db.query<{ at: Date; told: string | null }>({
    name: 'find-last-status-change',
    text: 'select at, told from tenant_status_changes where tenant_id = $1 order by at desc limit 1',
    values: [tenant],
  });
  return rows[0];
}

export async function findLimits(db: Db, id: TenantId): Promise<LimitOverrides | null | undefined> {
  const { rows } = await db.query<{ limits: LimitOverrides | null }>({
    name: 'find-limits',
    text: 'select limits from tenants where id = $1',
    values: [id],
  });
  return rows[0]?.limits;
}

/** Store the limits of a locked tenant, and one row for each that changed. */
export async function updateLimits(
  tx: Tx,
  id: TenantId,
  { limits, changes, reason }: NewLimits,
): Promise<void> {
  await tx.query({
    name: 'update-limits',
    text: `with changed as (update tenants set limits = $2 where id = $1 returning id)
           insert into tenant_limit_changes (tenant_id, limit_name, old_value, new_value, reason)
           select id, name, old_value, new_value, $6
             from changed,
                  unnest($3::text[], $4::integer[], $5::integer[]) as u (name, old_value, new_value)`,
    values: [
      id,
      Object.keys(limits).length === 0 ? null : limits,
      changes.map(({ name }) => name),
      changes.map(({ from }) => from),
      changes.map(({ to }) => to),
      reason,
    ],
  });
}

interface NewLimits {
  readonly limits: LimitOverrides;
  readonly changes: readonly LimitChange[];
  readonly reason: string | undefined;
}

/** Store the name of a locked tenant, and its earlier one. */
export async function updateName(
  tx: Tx,
  { id, name }: Pick<Tenant, 'id' | 'name'>,
  newName: string,
): Promise<void> {
  await tx.query({
    name: 'update-tenant-name',
    text: `with changed as (update tenants set name = $3 where id = $1 returning id)
           insert into tenant_name_changes (tenant_id, old_name, new_name) select id, $2, $3 from changed`,
    values: [id, name, newName],
  });
}

/** The name that the tenant had just before `end`; `undefined`: the one that it has now. */
export async function findNameAt(db: Db, id: TenantId, end: Date): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>({
    name: 'find-tenant-name-at',
    text: `select old_name as name from tenant_name_changes
            where tenant_id = $1 and at >= $2 order by at limit 1`,
    values: [id, end],
  });
  return rows[0]?.name;
}

export async function updateExempt(tx: Tx, id: TenantId, exempt: boolean): Promise<void> {
  await tx.query({
    name: 'update-exempt',
    text: 'update tenants set exempt = $2 where id = $1',
    values: [id, exempt],
  });
}
