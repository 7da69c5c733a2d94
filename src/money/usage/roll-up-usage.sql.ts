/** SQL of `usage_rollups`, and of the sums by room of days and weeks. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { MEASURES, ROLL_UP_LOCK } from './fold-usage.sql.ts';

/** The midnight up to which a tenant has sums of days and weeks; the epoch if it has none. It never goes back. */
export async function findRolledUntil(db: Db, tenant: TenantId): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>({
    name: 'find-rolled-until',
    text: 'select until from usage_rollups where tenant_id = $1',
    values: [tenant],
  });
  return rows[0]?.until ?? new Date(0);
}

/** The oldest day of a tenant that is over and not rolled up. */
export interface DueDay {
  readonly tenant: TenantId;
  /** What was rolled up before. */
  readonly until: Date;
  readonly day: Date;
}

/** A charge at the end of a day is in the sums some seconds later. Adding it to the day then would cost more. */
const GRACE_MINUTES = 10;

/** One day of each tenant at most. Days without usage are passed over. */
export async function findDueDays(db: Db, limit: number): Promise<DueDay[]> {
  const { rows } = await db.query<DueDay>({
    name: 'find-due-days',
    text: `select t.id as tenant, coalesce(r.until, 'epoch') as until, date_trunc('day', due.hour, 'UTC') as day
             from tenants t left join usage_rollups r on r.tenant_id = t.id, lateral (
               select hour from usage_hours h
                where h.tenant_id = t.id and h.hour >= coalesce(r.until, 'epoch')
                  and h.hour < date_trunc('day', now() - interval '${GRACE_MINUTES} minutes', 'UTC')
                order by h.hour limit 1) as due
            order by t.id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Until the transaction ends, no other process folds or rolls up. */
export async function lockRollUp(tx: Tx): Promise<void> {
  await tx.query({ name: 'lock-roll-up', text: 'select pg_advisory_xact_lock($1)', values: [ROLL_UP_LOCK] });
}

const SUMS = MEASURES.map((each) => `sum(${each})`).join(', ');
const DUE = 'unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) as due (tenant, until, day)';

/** Add up the days, and the weeks that end with them or before them. */
export async function rollUp(tx: Tx, due: readonly DueDay[]): Promise<void> {
  const values = [due.map(({ tenant }) => tenant), due.map(({ until }) => until), due.map(({ day }) => day)];
  await tx.query({
    name: 'roll-up-days',
    text: `insert into usage_room_days (tenant_id, day, room, ${MEASURES.join(', ')})
           select h.tenant_id, due.day, h.room, ${SUMS}
             from ${DUE} join usage_room_hours h
               on h.tenant_id = due.tenant and h.hour >= due.day and h.hour < due.day + interval '24 hours'
            group by h.tenant_id, due.day, h.room order by h.tenant_id, h.room`,
    values,
  });
  await tx.query({
    name: 'roll-up-weeks',
    text: `insert into usage_room_weeks (tenant_id, week, room, ${MEASURES.join(', ')})
           select d.tenant_id, date_trunc('week', d.day, 'UTC') as week, d.room, ${SUMS}
             from ${DUE} join usage_room_days d
               on d.tenant_id = due.tenant and d.day >= date_trunc('week', due.until, 'UTC')
              and d.day < date_trunc('week', due.day + interval '24 hours', 'UTC')
            group by d.tenant_id, week, d.room order by d.tenant_id, week, d.room`,
    values,
  });
  await tx.query({
    name: 'set-rolled-until',
    text: `insert into usage_rollups (tenant_id, until) select tenant, day + interval '24 hours' from ${DUE}
           on conflict (tenant_id) do update set until = excluded.until`,
    values,
  });
}
