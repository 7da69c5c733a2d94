/** SQL of `events` and `event_streams`: positions in the log. `append-events.sql.ts` writes it. */
import { isDistributed } from '../base/db/distribution.ts';
import type { Db } from '../base/db/pool.ts';
import { changeInShares } from '../base/tenants/shares.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { Place } from './event.ts';

export const EVENT_CHANNEL = 'boxoffice_events';

/** A NOTIFY payload holds 8,000 bytes, and each entry takes up to 41. */
const NOTIFIED_TOGETHER = 150;

/** The place before the first event. */
export const BEGINNING: Place = { seq: 0n, at: null };

/** The place of the tenant's newest event. */
export async function findNewestPlace(db: Db, tenant: TenantId): Promise<Place> {
  const { rows } = await db.query<Place>({
    name: 'find-newest-place',
    text: `select s.last_seq as seq, e.at
             from event_streams s left join events e on e.tenant_id = s.tenant_id and e.seq = s.last_seq
            where s.tenant_id = $1`,
    values: [tenant],
  });
  return rows[0] ?? BEGINNING;
}

/** The place before the oldest event that is kept. */
export async function findOldestPlace(db: Db, tenant: TenantId): Promise<Place> {
  const { rows } = await db.query<Place>({
    name: 'find-oldest-place',
    text: `select coalesce((select min(seq) - 1 from events
            where tenant_id = $1), last_seq) as seq, null as at
             from event_streams where tenant_id = $1`,
    values: [tenant],
  });
  return rows[0] ?? BEGINNING;
}

/** The newest event numbers of those of `tenants` that have events. */
export async function findLastSeqs(
  db: Db,
  tenants: readonly TenantId[],
): Promise<{ tenant: TenantId; lastSeq: bigint }[]> {
  const { rows } = await db.query<{ tenant: TenantId; lastSeq: bigint }>({
    name: 'find-last-seqs',
    text: `select tenant_id as tenant, last_seq as "lastSeq" from event_streams where tenant_id = any($1)`,
    values: [tenants],
  });
  return rows;
}

/** Notify every process of the newest event numbers of `tenants`: `<tenant> <seq>`, separated by commas. */
export async function notifyEvents(db: Db, tenants: readonly TenantId[]): Promise<void> {
  if (isDistributed()) return notifyFromHere(db, await findLastSeqs(db, tenants));
  await db.query({
    name: 'notify-events',
    text: `select pg_notify('${EVENT_CHANNEL}', string_agg(tenant_id || ' ' || last_seq, ','))
             from (select tenant_id, last_seq, row_number() over () / ${NOTIFIED_TOGETHER} as part
                     from event_streams where tenant_id = any($1)) moved
            group by part`,
    values: [tenants],
  });
}

/** Where tables are distributed, the statement above would notify the listeners of a worker, and there are none. */
async function notifyFromHere(
  db: Db,
  moved: readonly { readonly tenant: TenantId; readonly lastSeq: bigint }[],
): Promise<void> {
  for (let from = 0; from < moved.length; from += NOTIFIED_TOGETHER) {
    const part = moved.slice(from, from + NOTIFIED_TOGETHER);
    await db.query({
      name: 'notify-events-from-here',
      text: `select pg_notify('${EVENT_CHANNEL}', $1)`,
      values: [part.map(({ tenant, lastSeq }) => `${tenant} ${lastSeq}`).join(',')],
    });
  }
}

/**
 * Delete up to about `limit` events that are older than `days`. Returns how many were deleted.
 *
 * A tenant's events are deleted from the oldest on, without a gap, even if the clock was turned back. So
 * concurrent deletions leave no hole, and a reader that finds an event finds all later ones.
 */
export function deleteOldEvents(
  db: Db,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  return changeInShares(db, {
    name: 'delete-old-events',
    text: (share) => `delete from events e
            using (select tenant_id, max(seq) as seq
                     from (select tenant_id, seq from events
                            where ${IS_OLD} ${share.and('tenant_id', 3)} order by at limit $2) old
                    group by tenant_id) gone
            where e.tenant_id = gone.tenant_id and e.seq <= gone.seq ${share.and('e.tenant_id', 3)}`,
    table: 'events',
    where: IS_OLD,
    values: [days],
    limit,
  });
}

const IS_OLD = 'at < now() - make_interval(days => $1)';
