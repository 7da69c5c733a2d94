/** SQL of `tenants` and `tenant_status_changes`. */
import type { Db, Tx } from '../db/pool.ts';
import type { Tenant, TenantId, TenantStatus } from './tenant.ts';

const COLUMNS = `id, name, email, status, exempt, created_at as "createdAt"`;

/** Insert a tenant with its account and payment settings. */
export async function insertTenant(
  tx: Tx,
  tenant: { id: TenantId; name: string; email: string },
): Promise<void> {
  await tx.query(
    `with tenant as (insert into tenants (id, name, email) values ($1, $2, $3) returning id),
          account as (insert into accounts (tenant_id) select id from tenant)
     insert into payment_settings (tenant_id) select id from tenant`,
    [tenant.id, tenant.name, tenant.email],
  );
}

export async function findTenant(db: Db, id: TenantId): Promise<Tenant | undefined> {
  const { rows } = await db.query<Tenant>(`select ${COLUMNS} from tenants where id = $1`, [id]);
  return rows[0];
}

export async function lockTenant(tx: Tx, id: TenantId): Promise<Tenant | undefined> {
  const { rows } = await tx.query<Tenant>(`select ${COLUMNS} from tenants where id = $1 for no key update`, [
    id,
  ]);
  return rows[0];
}

export async function updateStatus(
  tx: Tx,
  tenant: Pick<Tenant, 'id' | 'status'>,
  status: TenantStatus,
  reason: string,
): Promise<void> {
  await tx.query(
    `with changed as (update tenants set status = $3 where id = $1 returning id)
     insert into tenant_status_changes (tenant_id, old_status, new_status, reason)
     select id, $2, $3, $4 from changed`,
    [tenant.id, tenant.status, status, reason],
  );
}

export async function updateExempt(tx: Tx, id: TenantId, exempt: boolean): Promise<void> {
  await tx.query('update tenants set exempt = $2 where id = $1', [id, exempt]);
}
