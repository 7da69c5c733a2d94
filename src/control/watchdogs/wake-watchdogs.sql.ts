/** SQL that brings the next look at watchdogs forward. Only the listener runs it. Uses database time. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { WatchdogCondition } from './watchdog.ts';

/**
 * When to look at a watchdog after an event. While many participants enter, it is looked at every 100 ms and
 * not for each of them, because a look locks the room.
 */
const NEXT_LOOK = `greatest(now(), looked_at + interval '100 milliseconds')`;

/** Watchdogs of one room, with these conditions. */
export interface Woken {
  readonly roomUid: string;
  readonly condition: WatchdogCondition;
}

/** Locks watchdogs in a fixed order, which avoids deadlocks. */
export async function wakeWatchdogs(tx: Tx, tenant: TenantId, woken: readonly Woken[]): Promise<void> {
  await tx.query({
    name: 'wake-watchdogs',
    text: `with sleeping as (
             select id, ${NEXT_LOOK} as next_look from watchdogs
              where tenant_id = $1 and state in ('armed', 'warned')
                and (room_uid, condition) in (select * from unnest($2::text[], $3::text[]))
                and (check_at is null or check_at > ${NEXT_LOOK})
              order by id for no key update
           )
           update watchdogs w set check_at = s.next_look from sleeping s where w.tenant_id = $1 and w.id = s.id`,
    values: [tenant, woken.map(({ roomUid }) => roomUid), woken.map(({ condition }) => condition)],
  });
}

/** Since when a tenant is not admitted, according to some of its events. */
export interface Unadmitted {
  /** `null`: it is admitted. */
  readonly since: Date | null;
  /** Whether the tenant was admitted just before, so that earlier times no longer count. */
  readonly isNew: boolean;
}

/** Store since when the tenant is not admitted, but never a time before the watchdog was created. */
export async function wakeUnadmittedWatchdogs(
  tx: Tx,
  tenant: TenantId,
  unadmitted: Unadmitted,
): Promise<void> {
  await tx.query({
    name: 'wake-unadmitted-watchdogs',
    text: `with waiting as (
             select id from watchdogs
              where tenant_id = $1 and condition = 'unadmitted_for' and state in ('armed', 'warned')
              order by id for no key update
           )
           update watchdogs
              set check_at = now(),
                  held_since = case when $2::timestamptz is null then null
                                    when $3 then greatest(created_at, $2)
                                    else greatest(created_at, least(held_since, $2)) end
            where tenant_id = $1 and id in (select id from waiting)`,
    values: [tenant, unadmitted.since, unadmitted.isNew],
  });
}
