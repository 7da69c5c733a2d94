/** SQL by which charging finds out which ids were accepted before. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { StoredRecord } from './stored-record.ts';

/** Record ids with their tenants. */
export type TenantIds = readonly { readonly tenant: TenantId; readonly id: string }[];

/**
 * The tenants of those ids that were accepted before. `offset 0` forces one look-up per id. Where tables are
 * distributed, the ids are those of one tenant.
 */
export function findTenantsOfKnown(ids: TenantIds): Statement<{ readonly tenant: TenantId }> {
  if (isDistributed()) {
    return {
      name: 'find-tenant-of-known',
      text: 'select tenant_id as tenant from usage_records where tenant_id = $1 and id = any($2) limit 1',
      values: [ids[0]!.tenant, ids.map(({ id }) => id)],
    };
  }
  return {
    name: 'find-tenants-of-known',
    text: `select asked.tenant_id as tenant
             from unnest($1::bigint[], $2::text[]) as asked (tenant_id, id),
                  lateral (select from usage_records r
                            where r.tenant_id = asked.tenant_id and r.id = asked.id offset 0) as known`,
    values: columns(ids),
  };
}

function columns(ids: TenantIds): [TenantId[], string[]] {
  return [ids.map(({ tenant }) => tenant), ids.map(({ id }) => id)];
}

/**
 * The ids that were accepted before, by tenant. Reliable only while the accounts are locked.
 *
 * One look-up per tenant: PostgreSQL then always uses the index. For a join of many ids, it would read
 * a small table as a whole.
 */
export async function findKnown(tx: Tx, ids: TenantIds): Promise<Map<TenantId, Map<string, StoredRecord>>> {
  const known = new Map<TenantId, Map<string, StoredRecord>>();
  for (const [tenant, ofTenant] of Map.groupBy(ids, (each) => each.tenant)) {
    const { rows } = await tx.query<StoredRecord>({
      name: 'find-known',
      text: `select id, role, tier, seconds, egress_bytes as "egressBytes", ingress_bytes as "ingressBytes",
                    room, participant
               from usage_records where tenant_id = $1 and id = any($2)`,
      values: [tenant, ofTenant.map(({ id }) => id)],
    });
    known.set(tenant, new Map(rows.map((row) => [row.id, row])));
  }
  return known;
}
