/** SQL of `time_zones` and `month_ends`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Month } from '../month.ts';
import { Calendar, IN_UTC, type ZoneChange } from './calendar.ts';

/** Those of tenants that have set a zone; the others have the calendar of UTC. */
export async function findCalendars(
  db: Db,
  tenants: readonly TenantId[],
): Promise<ReadonlyMap<TenantId, Calendar>> {
  const { rows } = await db.query<ZoneChange & { readonly tenant: TenantId }>({
    name: 'find-time-zones',
    text: `select t.tenant, last.name as zone, to_char(m.month, 'YYYY-MM') as month
             from unnest($1::bigint[]) as t (tenant), lateral (
               select min(month) as first, max(month) as last from time_zones where tenant_id = t.tenant) as ends,
                  generate_series(ends.first::timestamp, ends.last, '1 month') as m (month), lateral (
               select name from time_zones where tenant_id = t.tenant and month = m.month::date
                order by seq desc limit 1) as last
            order by t.tenant, m.month`,
    values: [tenants],
  });
  const changes = Map.groupBy(rows, ({ tenant }) => tenant);
  if (changes.size === 0) return new Map();
  const { rows: found } = await db.query<{ tenant: TenantId; month: Month; at: Date }>({
    name: 'find-month-ends',
    text: `select tenant_id as tenant, to_char(month, 'YYYY-MM') as month, at from month_ends
            where tenant_id = any($1::bigint[])`,
    values: [[...changes.keys()]],
  });
  const ends = Map.groupBy(found, ({ tenant }) => tenant);
  const endsOf = (tenant: TenantId) => new Map((ends.get(tenant) ?? []).map(({ month, at }) => [month, at]));
  return new Map(Array.from(changes, ([tenant, of]) => [tenant, new Calendar(of, endsOf(tenant))]));
}

/** Keep when the month ended, if it is not kept. Only for tenants that have set a zone. */
export async function keepMonthEnd(tx: Tx, tenant: TenantId, month: Month, at: Date): Promise<void> {
  await tx.query({
    name: 'keep-month-end',
    text: `insert into month_ends (tenant_id, month, at) values ($1, ($2 || '-01')::date, $3) on conflict do nothing`,
    values: [tenant, month, at],
  });
}

export async function findCalendar(db: Db, tenant: TenantId): Promise<Calendar> {
  return (await findCalendars(db, [tenant])).get(tenant) ?? IN_UTC;
}

export async function listZonedAfter(db: Db, after: TenantId | null, limit: number): Promise<TenantId[]> {
  const { name, where, values } = filtered('list-zoned-tenants', [limit], {
    after: after !== null && ['tenant_id > ?', after],
  });
  const { rows } = await db.query<{ tenant: TenantId }>({
    name,
    text: `select tenant_id as tenant from time_zones where seq = 1 ${where} order by tenant_id limit $1`,
    values,
  });
  return rows.map((row) => row.tenant);
}

export async function insertTimeZone(tx: Tx, tenant: TenantId, zone: string, month: Month): Promise<void> {
  await tx.query({
    name: 'insert-time-zone',
    text: `insert into time_zones (tenant_id, seq, name, month)
           select $1, coalesce(max(seq), 0) + 1, $2, ($3 || '-01')::date from time_zones where tenant_id = $1`,
    values: [tenant, zone, month],
  });
}

/** PostgreSQL reads them from files: that takes longer than all else of a change. They change only when it is updated. */
const names = new Set<string>();

/** Whether the database has a zone of exactly this name. */
export async function isZoneName(db: Db, name: string): Promise<boolean> {
  if (!names.has(name)) {
    const { rows } = await db.query<{ name: string }>({
      name: 'list-zone-names',
      text: 'select name from pg_timezone_names',
    });
    for (const row of rows) names.add(row.name);
  }
  return names.has(name);
}
