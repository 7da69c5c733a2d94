/** SQL of `moderation_events`, which only grows; only names in it may be erased. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ModerationEvent } from './moderation-event.ts';

/** The time of this transaction. */
export async function transactionTime(tx: Tx): Promise<Date> {
  const { rows } = await tx.query<{ at: Date }>({
    name: 'transaction-time',
    text: 'select now() as at',
  });
  return rows[0]!.at;
}

export async function insertModerationEvent(tx: Tx, tenant: TenantId, event: ModerationEvent): Promise<void> {
  await tx.query({
    name: 'insert-moderation-event',
    text: `insert into moderation_events (tenant_id, id, action, room_uid, kind, value, tracks, reason, actor,
                                          key_id, member_id, watchdog_id, at, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      tenant,
      event.id,
      event.action,
      event.roomUid,
      event.subject?.kind,
      event.subject?.value,
      event.tracks,
      event.reason,
      event.actor,
      event.keyId,
      event.memberId,
      event.watchdogId,
      event.at,
      event.expiresAt,
    ],
  });
}

/** Record what watchdogs did. `firstId` is the number of the first one's event. */
export async function insertModerationEvents(
  tx: Tx,
  tenant: TenantId,
  firstId: bigint,
  events: readonly Omit<ModerationEvent, 'id'>[],
): Promise<void> {
  await tx.query({
    name: 'insert-moderation-events',
    text: `insert into moderation_events (tenant_id, id, action, room_uid, kind, value, tracks,
               watchdog_id, at)
           select $1, $2 + ordinality - 1, e.action, e."roomUid", e.subject ->> 'kind',
               e.subject ->> 'value', e.tracks,
                  e."watchdogId", e.at
             from rows from (json_to_recordset($3) as
                    (action text, "roomUid" text, subject json, tracks text[], "watchdogId" text,
                        at timestamptz))
                  with ordinality as e (action, "roomUid", subject, tracks, "watchdogId", at, ordinality)`,
    values: [tenant, firstId, JSON.stringify(events)],
  });
}

export interface ModerationEventFilter {
  /** Name of a room; covers all rooms that had the name. */
  readonly room: string | undefined;
  readonly username: string | undefined;
  /** Only events before the one with this id. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

/** A `ModerationEvent`, of the tenant `$1`, before further conditions. */
const EVENT = `select e.id, e.action, r.name as room, e.room_uid as "roomUid",
                  case when e.kind is not null then json_build_object('kind', e.kind, 'value', e.value) end
                    as subject,
                  e.tracks, e.reason, e.actor, e.key_id as "keyId", e.member_id as "memberId", e.watchdog_id as "watchdogId", e.at,
                  e.expires_at as "expiresAt"
             from moderation_events e left join rooms r on r.tenant_id = e.tenant_id and r.uid = e.room_uid
            where e.tenant_id = $1`;

/** In no order. */
export async function findModerationEventsById(
  db: Db,
  tenant: TenantId,
  ids: readonly bigint[],
): Promise<ModerationEvent[]> {
  const { rows } = await db.query<ModerationEvent>({
    name: 'find-moderation-events-by-id',
    text: `${EVENT} and e.id = any($2)`,
    values: [tenant, ids],
  });
  return rows;
}

/** The newest first. */
export async function findModerationEvents(
  db: Db,
  tenant: TenantId,
  { room, username, before, limit }: ModerationEventFilter,
): Promise<ModerationEvent[]> {
  const filter = filtered('find-moderation-events', [tenant, limit], {
    room: room && ['r.name = ?', room],
    user: username && ["e.kind = 'user' and e.value = ?", username],
    before: before !== undefined && ['e.id < ?', before],
  });
  const { rows } = await db.query<ModerationEvent>({
    name: filter.name,
    text: `${EVENT} ${filter.where}
            order by e.id desc limit $2`,
    values: filter.values,
  });
  return rows;
}

const EVENTS_AT_ONCE = 1_000;

/** The columns that name people. */
type Named = Pick<ModerationEvent, 'subject' | 'reason' | 'actor'>;

/**
 * Rewrite who is named by the tenant's next events after `after`. `rewrite` returns the same object if it has nothing to
 * change. Returns the id of the last one; `undefined`: there are no more.
 */
export async function rewriteModerationEvents(
  tx: Tx,
  tenant: TenantId,
  after: bigint,
  rewrite: (event: Named) => Named,
): Promise<bigint | undefined> {
  const { rows } = await tx.query<Named & { id: bigint }>({
    name: 'find-moderation-events-to-rewrite',
    text: `select id, reason, actor,
                  case when kind is not null then json_build_object('kind', kind, 'value', value) end as subject
             from moderation_events where tenant_id = $1 and id > $2 order by id limit ${EVENTS_AT_ONCE}`,
    values: [tenant, after],
  });
  const changed = rows.flatMap((row) => {
    const rewritten = rewrite(row);
    return rewritten === row ? [] : [{ ...rewritten, id: row.id }];
  });
  await tx.query({
    name: 'rewrite-moderation-events',
    text: `update moderation_events e set value = n.value, reason = n.reason, actor = n.actor
             from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as n (id, value, reason, actor)
            where e.tenant_id = $1 and e.id = n.id`,
    values: [
      tenant,
      changed.map(({ id }) => id),
      changed.map(({ subject }) => subject?.value ?? null),
      changed.map(({ reason }) => reason),
      changed.map(({ actor }) => actor),
    ],
  });
  return rows.length === EVENTS_AT_ONCE ? rows.at(-1)!.id : undefined;
}
