/** SQL of `event_listeners`, `event_turns` and `event_cursors`: which events wait for which listener. */
import type { Statement } from '../base/db/pipeline.ts';
import type { Db, Tx } from '../base/db/pool.ts';
import { onServers } from '../base/tenants/shares.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { LoggedEvent } from './event.ts';
import type { Listener } from './listener.ts';

/** A turn fails if it waits longer for a lock, because other tenants wait for their turns meanwhile. */
const LOCK_MS_MAX = 500;

type Wants = Pick<Listener, 'name' | 'types'>;

/** From the commit on, events of these types are queued for the listener. */
export async function upsertListener(db: Db, { name, types }: Wants): Promise<void> {
  await db.query({
    name: 'upsert-listener',
    text: `insert into event_listeners (name, types) values ($1, $2)
           on conflict (name) do update set types = excluded.types
            where event_listeners.types <> excluded.types`,
    values: [name, types],
  });
}

interface Looking {
  readonly limit: number;
  /** Absent: all tenants. */
  readonly of: readonly TenantId[] | undefined;
}

/**
 * Tenants whose events wait for the listener, longest wait first. Leaves out tenants that it backs off
 * from after a failed turn. Creates the cursor of a tenant before its first turn.
 */
export async function findTurns(db: Db, name: string, looking: Looking): Promise<TenantId[]> {
  const rows = await findWaiting(db, name, looking);
  const fresh = rows.filter(({ isNew }) => isNew);
  if (fresh.length > 0) {
    await db.query({
      name: 'insert-cursors',
      text: `insert into event_cursors (listener, tenant_id, seq)
             select $1, tenant, after from unnest($2::bigint[], $3::bigint[]) as t (tenant, after)
             on conflict do nothing`,
      values: [name, fresh.map(({ tenant }) => tenant), fresh.map(({ after }) => after)],
    });
  }
  return rows.map(({ tenant }) => tenant);
}

interface WaitingTenant {
  readonly tenant: TenantId;
  readonly isNew: boolean;
  readonly after: bigint;
}

function findWaiting(db: Db, name: string, { limit, of }: Looking): Promise<WaitingTenant[]> {
  const values = [name, limit, ...(of ? [of] : [])];
  return onServers<WaitingTenant>(db, {
    name: of ? 'find-turns-of-tenants' : 'find-turns',
    text: (
      tenants,
    ) => `select t.tenant_id as tenant, c.tenant_id is null as "isNew", min(t.after_seq) as after
             from event_turns t
             left join event_cursors c on c.listener = t.listener and c.tenant_id = t.tenant_id
            where t.listener = $1 and (c.retry_at is null or c.retry_at <= now())
              ${of ? 'and t.tenant_id = any($3)' : ''} ${tenants.and('t.tenant_id', values.length + 1)}
            group by t.tenant_id, c.tenant_id order by min(t.at) limit $2`,
    values,
  });
}

/** Lock the turn until the transaction ends; `undefined` if another process has it. */
export async function lockCursor(tx: Tx, name: string, tenant: TenantId): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ seq: bigint }>({
    name: 'lock-cursor',
    text: `select seq, set_config('lock_timeout', $3, true)
             from event_cursors where listener = $1 and tenant_id = $2 for update skip locked`,
    values: [name, tenant, String(LOCK_MS_MAX)],
  });
  return rows[0]?.seq;
}

export interface TurnEvents {
  readonly events: readonly LoggedEvent[];
  /** The listener wants no other event up to this number. */
  readonly reached: bigint;
}

/** The next events that the listener wants, after `after`. */
export async function listNextEvents(
  tx: Tx,
  { types }: Wants,
  tenant: TenantId,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<TurnEvents> {
  const { rows } = await tx.query<LoggedEvent & { lastSeq: bigint; seq: bigint | null }>({
    name: 'list-next-events',
    text: `select s.last_seq as "lastSeq", e.seq, e.at, e.type, e.room_uid as "roomUid", e.subject
             from event_streams s
             left join lateral (select * from events
                                 where tenant_id = $1 and seq > $2 and seq <= s.last_seq and type = any($3)
                                 order by seq limit $4) e on true
            where s.tenant_id = $1 order by e.seq`,
    values: [tenant, after, types, limit],
  });
  const events = rows
    .filter(({ seq }) => seq !== null)
    .map(({ seq, at, type, roomUid, subject }) => ({ seq, at, type, roomUid, subject }));
  const reached = events.length < limit ? rows[0]?.lastSeq : events.at(-1)?.seq;
  return { events, reached: reached ?? after };
}

/** Record that the listener has handled everything up to `reached`. */
export async function finishTurn(tx: Tx, name: string, tenant: TenantId, reached: bigint): Promise<void> {
  await tx.query({
    name: 'finish-turn',
    text: `with done as (
             delete from event_turns where listener = $1 and tenant_id = $2 and seq <= $3
           )
           update event_cursors set seq = $3, failures = 0, retry_at = null
            where listener = $1 and tenant_id = $2`,
    values: [name, tenant, reached],
  });
}

/** Back off from the tenant after a failed turn. Returns the number of failures in a row. */
export async function noteFailure(
  db: Db,
  name: string,
  tenant: TenantId,
  secondsAfter: (failures: number) => number,
): Promise<number> {
  const { rows } = await db.query<{ failures: number }>({
    name: 'note-failure',
    text: `update event_cursors set failures = failures + 1
            where listener = $1 and tenant_id = $2 returning failures`,
    values: [name, tenant],
  });
  const failures = rows[0]?.failures ?? 1;
  await db.query({
    name: 'put-off-turn',
    text: `update event_cursors set retry_at = now() + make_interval(secs => $3)
            where listener = $1 and tenant_id = $2`,
    values: [name, tenant, secondsAfter(failures)],
  });
  return failures;
}

/** Until this transaction ends, the listener takes no turn of the tenant. Waits for the end of one that it has taken. */
export async function waitForTurn(tx: Tx, { name }: Pick<Wants, 'name'>, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'wait-for-turn',
    text: 'select from event_cursors where listener = $1 and tenant_id = $2 for update',
    values: [name, tenant],
  });
}

/** When the oldest event happened that waits for the listener; `null`: none waits. */
export function waitingSince(
  { name, types }: Wants,
  tenant: TenantId,
): Statement<{ readonly since: Date | null }> {
  return {
    name: 'find-waiting-since',
    text: `select least(
             (select min(at) from unnumbered_events where tenant_id = $1 and type = any($2)),
             (select e.at from (select min(after_seq) as seq from event_turns
                                 where tenant_id = $1 and listener = $3) t
                left join event_cursors c on c.tenant_id = $1 and c.listener = $3
                join lateral (select at from events
                               where tenant_id = $1 and seq > greatest(t.seq, c.seq) and type = any($2)
                               order by seq limit 1) e on t.seq is not null)) as since`,
    values: [tenant, types, name],
  };
}

/**
 * An SQL condition: events of these types still wait for the listener. `tenant` is the column with the
 * tenant's id, qualified with its table.
 */
export function eventsWaitFor(listener: string, tenant: string, types: readonly string[]): string {
  const isWanted = `type in (${types.map((type) => `'${type}'`).join(', ')})`;
  return `(exists (select from unnumbered_events u where u.tenant_id = ${tenant} and u.${isWanted})
       or exists (select from events e
                   where e.tenant_id = ${tenant} and e.${isWanted}
                     and e.seq > coalesce((select c.seq from event_cursors c
                                            where c.listener = '${listener}' and c.tenant_id = ${tenant}), 0)))`;
}

/** The lag of a listener. */
export interface Lag {
  readonly listener: string;
  readonly events: number;
  /** Age of the oldest waiting event. */
  readonly seconds: number;
}

/** The lag of every listener, longest first. */
export async function listLags(db: Db): Promise<Lag[]> {
  const { rows } = await db.query<Lag>({
    name: 'list-lags',
    text: `select l.name as listener, coalesce(sum(w.events), 0)::double precision as events,
                  coalesce(max(w.seconds), 0)::double precision as seconds
             from event_listeners l
             left join (
               select t.listener, max(t.seq) - coalesce(max(c.seq), min(t.after_seq)) as events,
                      extract(epoch from clock_timestamp() - min(t.at)) as seconds
                 from event_turns t
                 left join event_cursors c on c.listener = t.listener and c.tenant_id = t.tenant_id
                group by t.listener, t.tenant_id) w on w.listener = l.name
            group by l.name order by seconds desc, l.name`,
  });
  return rows;
}
