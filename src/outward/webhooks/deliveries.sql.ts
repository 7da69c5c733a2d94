/** SQL of `webhook_deliveries`: the log of attempts. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { changeInShares } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ROOM_NAME } from '../events/public-events.sql.ts';
import type { DeadLetter } from './dead-letter.ts';
import type { Delivery, DeliveryOutcome, NewDelivery } from './delivery.ts';

const DELIVERY = `id, kind, event_id as "eventId", seq, type, attempt, signed_at as "signedAt", skipped, at,
  latency_ms as "latencyMs", status, error, answer, gave_up as "gaveUp", format, batch_id as "batchId"`;

/** The event of the row was given up, and was neither delivered nor put aside again since. */
export const IS_DEAD = 'gave_up and sent_again_at is null';

/** Nothing is inserted if the webhook was deleted meanwhile. */
export async function insertDelivery(
  db: Db,
  tenant: TenantId,
  webhook: string,
  delivery: NewDelivery,
): Promise<Delivery | undefined> {
  const { rows } = await db.query<Delivery>({
    name: 'insert-webhook-delivery',
    text: `${logDeliveries(3)} returning ${DELIVERY}`,
    values: [tenant, webhook, ...deliveriesValues([delivery])],
  });
  return rows[0];
}

/** What is written of a delivery, with the types. */
const LOGGED = {
  kind: 'text',
  event_id: 'text',
  seq: 'bigint',
  type: 'text',
  attempt: 'integer',
  signed_at: 'timestamptz',
  skipped: 'bigint',
  latency_ms: 'integer',
  status: 'integer',
  error: 'text',
  answer: 'text',
  gave_up: 'boolean',
  format: 'text',
  batch_id: 'text',
} as const;
const COLUMNS = Object.keys(LOGGED);
const INSERT = `insert into webhook_deliveries (tenant_id, webhook_id, ${COLUMNS.join(', ')})`;

/** Inserts deliveries to the webhook `$2` of the tenant `$1`, if it exists. `deliveriesValues()` begin at `$first`. */
export function logDeliveries(first: number): string {
  const lists = Object.values(LOGGED).map((type, at) => `$${first + at}::${type}[]`);
  const values = COLUMNS.map((name) => `d.${name}`).join(', ');
  return `${INSERT}
          select $1, $2, ${values} from webhook_endpoints w, unnest(${lists.join(', ')}) as d (${COLUMNS.join(', ')})
           where w.tenant_id = $1 and w.id = $2`;
}

export function deliveriesValues(deliveries: readonly NewDelivery[]): unknown[][] {
  const rows = deliveries.map(valuesOf);
  return COLUMNS.map((_, at) => rows.map((row) => row[at]));
}

function valuesOf(delivery: NewDelivery): unknown[] {
  const { kind, eventId, seq, type, attempt, signedAt, skipped, latencyMs, status, error, answer } = delivery;
  return [
    kind,
    eventId,
    seq,
    type,
    attempt,
    signedAt,
    skipped,
    latencyMs,
    status,
    error,
    answer,
    delivery.gaveUp ?? false,
    delivery.format,
    delivery.batchId,
  ];
}

/** Like `isDelivered()`. The index of those that failed has the same condition. */
const BY_OUTCOME: Readonly<Record<DeliveryOutcome, string>> = {
  delivered: 'status between 200 and 299',
  failed: '(status is null or status not between 200 and 299)',
};

export interface DeliveryFilter {
  readonly before: bigint | undefined;
  /** `undefined`: all. */
  readonly outcome: DeliveryOutcome | undefined;
}

/** The newest first, before the delivery `before`. */
export async function findDeliveries(
  db: Db,
  tenant: TenantId,
  webhook: string,
  { before, outcome, limit }: DeliveryFilter & { readonly limit: number },
): Promise<Delivery[]> {
  const { name, where, values } = filtered('find-webhook-deliveries', [tenant, webhook, limit], {
    before: before !== undefined && ['id < ?', before],
    [outcome ?? 'all']: outcome !== undefined && [BY_OUTCOME[outcome]],
  });
  const { rows } = await db.query<Delivery>({
    name,
    text: `select ${DELIVERY} from webhook_deliveries
            where tenant_id = $1 and webhook_id = $2 ${where} order by id desc limit $3`,
    values,
  });
  return rows;
}

export async function findDelivery(
  db: Db,
  tenant: TenantId,
  webhook: string,
  id: bigint,
): Promise<Delivery | undefined> {
  const { rows } = await db.query<Delivery>({
    name: 'find-webhook-delivery',
    text: `select ${DELIVERY} from webhook_deliveries where tenant_id = $1 and webhook_id = $2 and id = $3`,
    values: [tenant, webhook, id],
  });
  return rows[0];
}

/** How many deliveries may be logged between those of one request, whose numbers come one soon after the other. */
const APART_MAX = 10_000n;

/** All of the request in which `delivery` was sent with others, in the order of the log. */
export async function findBatch(
  db: Db,
  tenant: TenantId,
  webhook: string,
  { id, batchId, signedAt }: Delivery,
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>({
    name: 'find-webhook-delivery-batch',
    text: `select ${DELIVERY} from webhook_deliveries
            where tenant_id = $1 and webhook_id = $2 and id between $3 and $4 and batch_id = $5 and signed_at = $6
            order by seq`,
    values: [tenant, webhook, id - APART_MAX, id + APART_MAX, batchId, signedAt],
  });
  return rows;
}

/** The newest events first, before the event `before`. */
export async function findDeadLetters(
  db: Db,
  tenant: TenantId,
  webhook: string,
  { before, limit }: { readonly before: bigint | undefined; readonly limit: number },
): Promise<DeadLetter[]> {
  const { name, where, values } = filtered('find-webhook-dead-letters', [tenant, webhook, limit], {
    before: before !== undefined && ['d.seq < ?', before],
  });
  const { rows } = await db.query<DeadLetter>({
    name,
    text: `select d.event_id as "eventId", d.seq, d.type, d.attempt, d.status, d.error, d.answer, d.at,
                  e.at as "happenedAt", ${ROOM_NAME} as room
             from webhook_deliveries d left join events e on e.tenant_id = d.tenant_id and e.seq = d.seq
            where d.tenant_id = $1 and d.webhook_id = $2 and ${IS_DEAD} ${where} order by d.seq desc limit $3`,
    values,
  });
  return rows;
}

/** Whether there are dead letters that were given up at or after `since`, and whose events are kept. */
export async function hasDeadLetters(
  db: Db,
  tenant: TenantId,
  webhook: string,
  since: Date,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-webhook-dead-letters',
    text: `select from webhook_deliveries d join events e on e.tenant_id = d.tenant_id and e.seq = d.seq
            where d.tenant_id = $1 and d.webhook_id = $2 and ${IS_DEAD} and d.at >= $3 limit 1`,
    values: [tenant, webhook, since],
  });
  return rowCount === 1;
}

/** The event was delivered on request, so it is no dead letter any more. */
export async function endDeadLetter(tx: Tx, tenant: TenantId, webhook: string, seq: bigint): Promise<void> {
  await tx.query({
    name: 'end-webhook-dead-letter',
    text: `update webhook_deliveries set sent_again_at = now()
            where tenant_id = $1 and webhook_id = $2 and seq = $3 and ${IS_DEAD}`,
    values: [tenant, webhook, seq],
  });
}

/** Those after the event `seq` come again in the order of the log. */
export async function endDeadLettersAfter(
  tx: Tx,
  tenant: TenantId,
  webhook: string,
  seq: bigint,
): Promise<void> {
  await tx.query({
    name: 'end-webhook-dead-letters-after',
    text: `update webhook_deliveries set sent_again_at = now()
            where tenant_id = $1 and webhook_id = $2 and seq > $3 and ${IS_DEAD}`,
    values: [tenant, webhook, seq],
  });
}

/** The time of the database, in milliseconds since 1970. */
export async function findNowMs(db: Db): Promise<number> {
  const { rows } = await db.query<{ ms: number }>({
    name: 'find-now-ms',
    text: `select floor(extract(epoch from now()) * 1000)::double precision as ms`,
    values: [],
  });
  return rows[0]!.ms;
}

/** Up to `limit` that are older than `days`. Returns how many were deleted. */
export function deleteOldDeliveries(
  db: Db,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  return changeInShares(db, {
    name: 'delete-old-webhook-deliveries',
    text: (share) => `delete from webhook_deliveries where (tenant_id, webhook_id, id) in (
             select tenant_id, webhook_id, id from webhook_deliveries
              where ${IS_OLD} ${share.and('tenant_id', 3)} order by at limit $2) ${share.and('tenant_id', 3)}`,
    table: 'webhook_deliveries',
    where: IS_OLD,
    values: [days],
    limit,
  });
}

const IS_OLD = 'at < now() - make_interval(days => $1)';
