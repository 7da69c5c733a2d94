/**
 * Appending to the log.
 *
 * `appendEvents()` inserts rows without a number and does not wait for other transactions. Each row gets
 * its number before any later event and before any reader sees it (`number-events.ts`).
 */
import { isDistributed } from '../base/db/distribution.ts';
import type { Statement } from '../base/db/pipeline.ts';
import type { Db, Tx } from '../base/db/pool.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import { insertUnnumbered, numberInSteps } from './append-in-steps.sql.ts';
import type { NewEvent } from './event.ts';

/** Append events to the tenant's log as part of the caller's transaction. */
export async function appendEvents(db: Db, tenant: TenantId, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  if (isDistributed()) return insertUnnumbered(db, tenant, events);
  await db.query({
    name: 'append-events',
    text: `insert into unnumbered_events (tenant_id, type, room_uid, subject, revokes)
           select $1, type, room_uid, subject::jsonb, revokes
             from unnest($2::text[], $3::text[], $4::text[], $5::boolean[])
                  with ordinality as e (type, room_uid, subject, revokes, place)
            order by place`,
    values: [tenant, ...columnsOf(events)],
  });
}

/**
 * Number the waiting events, then `events`. Returns the number of the first of `events`; the others follow.
 *
 * Until this transaction ends, no other transaction can number events of this tenant. So do this last, and
 * only if you need the number.
 */
export async function appendNumberedEvents(
  tx: Tx,
  tenant: TenantId,
  events: readonly NewEvent[],
): Promise<bigint> {
  const before = await lockStream(tx, tenant);
  if (isDistributed()) return (await numberInSteps(tx, tenant, before, events)) - BigInt(events.length) + 1n;
  const { rows } = await tx.query<{ last: bigint }>({
    name: 'append-numbered-events',
    text: `with waiting as (
             delete from unnumbered_events where tenant_id = $1
             returning id, at, type, room_uid, subject, revokes
           ), appended as (
             select row_number() over (order by is_new, id) as place, at, type, room_uid, subject, revokes
               from (select false as is_new, * from waiting
                     union all
                     select true, place, clock_timestamp(), type, room_uid, subject::jsonb, revokes
                       from unnest($2::text[], $3::text[], $4::text[], $5::boolean[])
                            with ordinality as e (type, room_uid, subject, revokes, place)) both_kinds
           ), numbered as (
             insert into events (tenant_id, seq, at, type, room_uid, subject)
             select $1, last_seq + place, at, type, room_uid, subject
               from event_streams, appended where tenant_id = $1
           ), turns as (
             insert into event_turns (listener, tenant_id, seq, after_seq)
             select l.name, $1, s.last_seq + max(a.place), s.last_seq
               from event_streams s, event_listeners l join appended a on a.type = any(l.types)
              where s.tenant_id = $1 group by l.name, s.last_seq
           )
           update event_streams
              set last_seq = last_seq + (select count(*) from appended),
                  last_revocation = coalesce(last_seq + (select max(place) from appended where revokes),
                                             last_revocation)
            where tenant_id = $1
           returning last_seq as last`,
    values: [tenant, ...columnsOf(events)],
  });
  return rows[0]!.last - BigInt(events.length) + 1n;
}

/** For this transaction: each row is found by its key, by plans from when the tables were small, too. */
export const FIND_BY_KEY: Statement = {
  name: 'find-by-key',
  text: `select set_config(name, 'off', true)
           from unnest('{enable_seqscan,enable_hashjoin,enable_mergejoin}'::text[]) as settings (name)`,
};

/** Lock the streams of `tenants`, except those that are locked. Returns the tenants whose streams it has locked. */
export async function lockFreeStreams(tx: Tx, tenants: readonly TenantId[]): Promise<TenantId[]> {
  const { rows } = await tx.query<{ tenant: TenantId }>({
    name: 'lock-free-streams',
    text: `select tenant_id as tenant from event_streams where tenant_id = any($1)
            order by tenant_id for update skip locked`,
    values: [tenants],
  });
  return rows.map(({ tenant }) => tenant);
}

/** Number the waiting events of tenants whose streams this transaction has locked. */
export function numberWaitingEvents(tenants: readonly TenantId[]): Statement {
  return {
    name: 'number-waiting-events',
    text: `with waiting as (
             delete from unnumbered_events where tenant_id = any($1)
             returning tenant_id, id, at, type, room_uid, subject, revokes
           ), appended as (
             select s.tenant_id, s.last_seq + row_number() over (partition by s.tenant_id order by w.id) as seq,
                    s.last_seq as after_seq, w.at, w.type, w.room_uid, w.subject, w.revokes
               from waiting w join event_streams s on s.tenant_id = w.tenant_id
           ), numbered as (
             insert into events (tenant_id, seq, at, type, room_uid, subject)
             select tenant_id, seq, at, type, room_uid, subject from appended
           ), turns as (
             insert into event_turns (listener, tenant_id, seq, after_seq)
             select l.name, a.tenant_id, max(a.seq), a.after_seq
               from appended a join event_listeners l on a.type = any(l.types)
              group by l.name, a.tenant_id, a.after_seq
           )
           update event_streams s
              set last_seq = moved.last_seq,
                  last_revocation = coalesce(moved.last_revocation, s.last_revocation)
             from (select tenant_id, max(seq) as last_seq, max(seq) filter (where revokes) as last_revocation
                     from appended group by tenant_id) moved
            where s.tenant_id = moved.tenant_id`,
    values: [tenants],
  };
}

function columnsOf(events: readonly NewEvent[]) {
  return [
    events.map(({ type }) => type),
    events.map(({ roomUid }) => roomUid),
    events.map(({ subject }) => JSON.stringify(subject)),
    events.map(({ revokes }) => revokes ?? false),
  ] as const;
}

/**
 * Until this transaction ends, no other one numbers events of the tenant. So do this last. Returns the last number.
 */
export async function lockStream(tx: Tx, tenant: TenantId): Promise<bigint> {
  const lock = async () => {
    const { rows } = await tx.query<{ last: bigint }>({
      name: 'lock-stream',
      text: 'select last_seq as last from event_streams where tenant_id = $1 for update',
      values: [tenant],
    });
    return rows[0]?.last;
  };
  const last = await lock();
  if (last !== undefined) return last;
  await tx.query({
    name: 'insert-stream',
    text: 'insert into event_streams (tenant_id) values ($1) on conflict do nothing',
    values: [tenant],
  });
  return (await lock())!;
}
