/** SQL of `usage_rollups`, and of the sums of days, weeks and months. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { MEASURES, ROLL_UP_LOCK } from './fold-usage.sql.ts';
import type { RolledUpSums } from './rolled-up-sums.ts';

/** The midnight up to which a tenant has sums of days and more; the epoch if it has none. It never goes back. */
export async function findRolledUntil(db: Db, tenant: TenantId, { until }: RolledUpSums): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>({
    name: `find-rolled-${until}`,
    text: `select ${until} as until from usage_rollups where tenant_id = $1`,
    values: [tenant],
  });
  return rows[0]?.until ?? new Date(0);
}

/** The oldest day of a tenant that is over and not rolled up. */
export interface DueDay {
  /** What was rolled up before. */
  readonly until: Date;
  readonly day: Date;
}

/** A charge at the end of a day is in the sums some seconds later. Adding it to the day then would cost more. */
const GRACE_MINUTES = 10;

/** Days without usage are passed over. `tenant`: that of the account, for Citus by parameter where it is one. */
const due = (
  { until }: RolledUpSums,
  tenant: 'a.tenant_id' | '$1',
) => `from accounts a left join usage_rollups r on r.tenant_id = a.tenant_id, lateral (
    select min(hour) as hour from usage_hours h
     where h.tenant_id = ${tenant} and h.hour >= coalesce(r.${until}, 'epoch')
       and h.hour < date_trunc('day', statement_timestamp() - interval '${GRACE_MINUTES} minutes', 'UTC')) as due
  where due.hour is not null`;

/** Without those of `leftOut`. */
export async function findDueTenants(
  db: Db,
  sums: RolledUpSums,
  limit: number,
  leftOut: readonly TenantId[],
): Promise<readonly TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    text: (
      tenants,
    ) => `select a.tenant_id as tenant ${due(sums, 'a.tenant_id')} and a.tenant_id <> all($2::bigint[])
        ${tenants.and('a.tenant_id', 3)} limit $1`,
    values: [limit, leftOut],
  });
  return rows.map(({ tenant }) => tenant);
}

export async function findDueDay(db: Db, sums: RolledUpSums, tenant: TenantId): Promise<DueDay | undefined> {
  const { rows } = await db.query<DueDay>({
    name: `find-due-day-${sums.until}`,
    text: `select coalesce(r.${sums.until}, 'epoch') as until, date_trunc('day', due.hour, 'UTC') as day ${due(sums, '$1')}
              and a.tenant_id = $1`,
    values: [tenant],
  });
  return rows[0];
}

/** Until the transaction ends, no other process folds or rolls up. */
export async function lockRollUp(tx: Tx): Promise<void> {
  await tx.query({ name: 'lock-roll-up', text: 'select pg_advisory_xact_lock($1)', values: [ROLL_UP_LOCK] });
}

const NAMES = MEASURES.join(', ');
const SUMS = MEASURES.map((each) => `sum(${each})`).join(', ');

/** Add up the day, and the weeks and months that end with it or before it. */
export async function rollUp(
  tx: Tx,
  { key, tables, until: column }: RolledUpSums,
  tenant: TenantId,
  { until, day }: DueDay,
): Promise<void> {
  const [days, ...longer] = tables;
  const of = key.join(', ');
  await tx.query({
    name: `roll-up-day-${column}`,
    text: `insert into ${days!.name} (tenant_id, day, ${of}, ${NAMES})
           select tenant_id, $2::timestamptz, ${of}, ${SUMS} from usage_room_hours
            where tenant_id = $1 and hour >= $2 and hour < $2 + interval '24 hours'
            group by tenant_id, ${of} order by ${of}`,
    values: [tenant, day],
  });
  for (const { part, name } of longer) {
    await tx.query({
      name: `roll-up-${part}s-${column}`,
      text: `insert into ${name} (tenant_id, ${part}, ${of}, ${NAMES})
             select tenant_id, date_trunc('${part}', day, 'UTC') as ${part}, ${of}, ${SUMS} from ${days!.name}
              where tenant_id = $1 and day >= date_trunc('${part}', $2::timestamptz, 'UTC')
                and day < date_trunc('${part}', $3::timestamptz + interval '24 hours', 'UTC')
              group by tenant_id, ${part}, ${of} order by ${part}, ${of}`,
      values: [tenant, until, day],
    });
  }
  await tx.query({
    name: `set-rolled-${column}`,
    text: `insert into usage_rollups (tenant_id, ${column}) values ($1, $2::timestamptz + interval '24 hours')
           on conflict (tenant_id) do update set ${column} = excluded.${column}`,
    values: [tenant, day],
  });
}
