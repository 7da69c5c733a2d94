/** SQL of the timer: which watchdogs are due. Uses database time. */
import type { Db } from '../../base/db/pool.ts';
import { inShares, type Share } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** A watchdog that is due for a look. */
export interface DueWatchdog {
  readonly tenant: TenantId;
  readonly id: string;
  readonly roomUid: string;
}

/** Claim some of the watchdogs that are due. After `leaseSeconds`, another process may claim them. */
export async function claimDueWatchdogs(
  db: Db,
  { limit, leaseSeconds }: { readonly limit: number; readonly leaseSeconds: number },
): Promise<DueWatchdog[]> {
  const due = { table: 'watchdogs', where: 'check_at <= now()' };
  const claimed = await inShares(db, due, (share) => claimOfShare(db, share, { limit, leaseSeconds }));
  return claimed.flat();
}

async function claimOfShare(
  db: Db,
  share: Share,
  { limit, leaseSeconds }: { readonly limit: number; readonly leaseSeconds: number },
): Promise<DueWatchdog[]> {
  const { rows } = await db.query<DueWatchdog>({
    name: share.name('claim-due-watchdogs'),
    text: `with due as (
             select tenant_id, id from watchdogs where check_at <= now() ${share.and('tenant_id', 3)}
              order by check_at limit $1 for update skip locked
           )
           update watchdogs w
              set check_at = now() + make_interval(secs => $2)
             from due d where w.tenant_id = d.tenant_id and w.id = d.id ${share.and('w.tenant_id', 3)}
           returning w.tenant_id as tenant, w.id, w.room_uid as "roomUid"`,
    values: [limit, leaseSeconds, ...share.values],
  });
  return rows;
}

/** Milliseconds until the next watchdog is due, negative if it is overdue; `null`: none is scheduled. */
export async function findMsToNextCheck(db: Db): Promise<number | null> {
  const { rows } = await db.query<{ ms: number | null }>({
    name: 'find-ms-to-next-check',
    text: `select extract(epoch from min(check_at) - clock_timestamp())::double precision * 1000 as ms
             from watchdogs where check_at is not null`,
  });
  return rows[0]!.ms;
}
