/** SQL of `alert_thresholds`. It is written only while the account is locked. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { SetThreshold, Threshold } from './alert-threshold.ts';

/** Those of credit first, the largest first. */
export async function listThresholds(db: Db, tenant: TenantId): Promise<SetThreshold[]> {
  const { rows } = await db.query<SetThreshold>({
    name: 'list-thresholds',
    text: `select kind, below, burn, floor, recover_from as "recoverFrom", raised_at as "raisedAt"
             from alert_thresholds where tenant_id = $1 order by kind, below desc`,
    values: [tenant],
  });
  return rows;
}

/** Make these the thresholds of the tenant. One that is set already stays as it is. `burn`: micros an hour. */
export async function replaceThresholds(
  tx: Tx,
  tenant: TenantId,
  wanted: readonly Threshold[],
  burn: bigint,
): Promise<void> {
  await tx.query({
    name: 'replace-thresholds',
    text: `with wanted as (
             select * from unnest($2::text[], $3::bigint[]) as w (kind, below)
           ), dropped as (
             delete from alert_thresholds t where tenant_id = $1 and (kind, below) not in (select kind, below from wanted)
           )
           insert into alert_thresholds (tenant_id, kind, below, burn, measured_at)
           select $1, kind, below, case kind when 'runway' then $4::bigint end, case kind when 'runway' then now() end
             from wanted
           on conflict (tenant_id, kind, below) do nothing`,
    values: [tenant, wanted.map(({ kind }) => kind), wanted.map(({ below }) => below), burn],
  });
}

/** Raise those that are not raised, and end those that are. Returns the time. */
export async function turnThresholds(tx: Tx, tenant: TenantId, crossed: readonly Threshold[]): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>({
    name: 'clock-of-thresholds',
    text: `select date_trunc('milliseconds', clock_timestamp()) as now`,
  });
  const { now } = rows[0]!;
  await tx.query({
    name: 'turn-thresholds',
    text: `update alert_thresholds t set raised_at = case when raised_at is null then $4::timestamptz end
             from unnest($2::text[], $3::bigint[]) as c (kind, below)
            where t.tenant_id = $1 and t.kind = c.kind and t.below = c.below`,
    values: [tenant, crossed.map(({ kind }) => kind), crossed.map(({ below }) => below), now],
  });
  return now;
}

const TO_MEASURE = `kind = 'runway' and measured_at <= now() - interval '5 seconds'`;

/** Tenants whose usage has not been measured for five seconds, the longest first. */
export async function listTenantsToMeasure(db: Db, limit: number): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'list-tenants-to-measure',
    text: `select tenant_id as tenant from alert_thresholds where ${TO_MEASURE}
            group by tenant_id order by min(measured_at) limit $1`,
    values: [limit],
  });
  return rows.map(({ tenant }) => tenant);
}

/** Whether no other process has measured the usage meanwhile. Reliable only while the account is locked. */
export async function isToMeasure(tx: Tx, tenant: TenantId): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is-to-measure',
    text: `select from alert_thresholds where tenant_id = $1 and ${TO_MEASURE} limit 1`,
    values: [tenant],
  });
  return rowCount === 1;
}

/** `burn`: micros an hour. */
export async function updateBurn(tx: Tx, tenant: TenantId, burn: bigint): Promise<void> {
  await tx.query({
    name: 'update-burn',
    text: `update alert_thresholds set burn = $2, measured_at = now() where tenant_id = $1 and kind = 'runway'`,
    values: [tenant, burn],
  });
}
