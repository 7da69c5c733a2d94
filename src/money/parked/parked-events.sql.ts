/** SQL that finds and ends what is open in `provider_events`: events that are parked, or fail and are tried again. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { OpenEvent } from './open-event.ts';

/** A payment that is parked, and the tenant that it names, if it exists. */
export interface ParkedPayment {
  readonly id: string;
  readonly tenant?: TenantId | undefined;
}

const OPEN_EVENT = `id, type, outcome as state, coalesce(reason, '') as reason, tries, payment_id as "paymentId",
  tenant_id as tenant, received_at as "receivedAt"`;

/** The newest first. */
export async function listOpenEvents(db: Db, limit: number): Promise<OpenEvent[]> {
  const { rows } = await db.query<OpenEvent>({
    name: 'list-open-events',
    text: `select ${OPEN_EVENT} from provider_events where outcome in ('parked', 'failing')
            order by received_at desc, id limit $1`,
    values: [limit],
  });
  return rows;
}

/** By the id of the event, or of its payment; the newest one. */
export async function findOpenEvent(db: Db, id: string): Promise<OpenEvent | undefined> {
  const { rows } = await db.query<OpenEvent>({
    name: 'find-open-event',
    text: `select ${OPEN_EVENT} from provider_events
            where outcome in ('parked', 'failing') and (id = $1 or payment_id = $1)
            order by received_at desc limit 1`,
    values: [id],
  });
  return rows[0];
}

export async function countOpenEvents(db: Db): Promise<Readonly<Record<OpenEvent['state'], number>>> {
  const { rows } = await db.query<{ parked: number; failing: number }>({
    name: 'count-open-events',
    text: `select count(*) filter (where outcome = 'parked')::int as parked,
                  count(*) filter (where outcome = 'failing')::int as failing
             from provider_events where outcome in ('parked', 'failing')`,
  });
  return rows[0]!;
}

/**
 * The payment is credited, or dismissed by an operator (`reason`): its events are no longer parked. An
 * event that another transaction handles now is left to it; waiting for it could deadlock.
 */
export async function releaseParkedEvents(tx: Tx, paymentId: string, reason?: string): Promise<void> {
  await tx.query({
    name: 'release-parked-events',
    text: `update provider_events
              set outcome = case when $2::text is null then 'processed' else 'ignored' end, reason = $2
            where id in (select id from provider_events where payment_id = $1 and outcome = 'parked'
                            for update skip locked)`,
    values: [paymentId, reason ?? null],
  });
}
