/** SQL of `events` and `event_streams`. */
import type { Db, Tx } from '../base/db/pool.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { Event, EventFilter, EventType, Happening, Place } from '../control/streams/stream-event.ts';

export const EVENT_CHANNEL = 'boxoffice_events';

export interface NewEvent {
  readonly roomUid: string | null;
  readonly what: Happening;
  /** Whether relays have to refuse something from now on that they did not refuse before, or the reverse. */
  readonly revokes?: boolean;
}

/**
 * Append events, after those that wait for a number; returns the number of the first one, the others
 * follow it.
 *
 * From here to the end of the transaction no other one gets a number of this tenant: do this last.
 */
export async function appendEvents(tx: Tx, tenant: TenantId, events: readonly NewEvent[]): Promise<bigint> {
  await lockStream(tx, tenant);
  const { rows } = await tx.query<{ last: bigint }>(
    `with waiting as (
       delete from unnumbered_events where tenant_id = $1 returning id, at, type, room_uid, subject
     ), appended as (
       select row_number() over (order by is_new, id) as place, at, type, room_uid, subject
         from (select false as is_new, * from waiting
               union all
               select true, ordinality, clock_timestamp(), type, room_uid, subject::jsonb
                 from unnest($2::text[], $3::text[], $4::text[])
                      with ordinality as e (type, room_uid, subject, ordinality)) both_kinds
     ), told as (
       insert into events (tenant_id, seq, at, type, room_uid, subject)
       select $1, last_seq + place, at, type, room_uid, subject
         from event_streams, appended where tenant_id = $1
     )
     update event_streams
        set last_seq = last_seq + (select count(*) from appended),
            last_revocation = case when $5 then last_seq + (select count(*) from appended)
                                   else last_revocation end
      where tenant_id = $1
     returning last_seq as last`,
    [
      tenant,
      events.map((event) => event.what.type),
      events.map((event) => event.roomUid),
      events.map((event) => JSON.stringify(event.what.subject)),
      events.some((event) => event.revokes),
    ],
  );
  return rows[0]!.last - BigInt(events.length) + 1n;
}

/** What this transaction asks for from now on it gives up where another one keeps it locked for so long. */
export async function limitLockWait(tx: Tx, ms: number): Promise<void> {
  await tx.query("select set_config('lock_timeout', $1, true)", [String(ms)]);
}

async function lockStream(tx: Tx, tenant: TenantId): Promise<void> {
  const lock = () => tx.query('select from event_streams where tenant_id = $1 for update', [tenant]);
  if ((await lock()).rowCount === 1) return;
  await tx.query('insert into event_streams (tenant_id) values ($1) on conflict do nothing', [tenant]);
  await lock();
}

/** Those of `tenants` that have events without a number. */
export async function findUnnumbered(db: Db, tenants: readonly TenantId[]): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-unnumbered',
    text: `select tenant from unnest($1::bigint[]) as t (tenant)
            where exists (select from unnumbered_events where tenant_id = tenant)`,
    values: [tenants],
  });
  return rows.map(({ tenant }) => tenant);
}

const BEGINNING: Place = { seq: 0n, at: null };

/** How far the events of a tenant have come. */
export async function findNewestPlace(db: Db, tenant: TenantId): Promise<Place> {
  const { rows } = await db.query<Place>(
    `select s.last_seq as seq, e.at
       from event_streams s left join events e on e.tenant_id = s.tenant_id and e.seq = s.last_seq
      where s.tenant_id = $1`,
    [tenant],
  );
  return rows[0] ?? BEGINNING;
}

/** Positions of those of `tenants` that have events. */
export async function findLastSeqs(
  db: Db,
  tenants: readonly TenantId[],
): Promise<{ tenant: TenantId; lastSeq: bigint }[]> {
  const { rows } = await db.query<{ tenant: TenantId; lastSeq: bigint }>(
    `select tenant_id as tenant, last_seq as "lastSeq" from event_streams where tenant_id = any($1)`,
    [tenants],
  );
  return rows;
}

/** Tell every process how far the events of `tenants` have come: `<tenant> <seq>`, separated by commas. */
export async function notifyEvents(db: Db, tenants: readonly TenantId[]): Promise<void> {
  // A notification holds 8,000 bytes, and each of these takes up to 41.
  await db.query(
    `select pg_notify('${EVENT_CHANNEL}', string_agg(tenant_id || ' ' || last_seq, ','))
       from (select tenant_id, last_seq, row_number() over () / 150 as part
               from event_streams where tenant_id = any($1)) moved
      group by part`,
    [tenants],
  );
}

const PARTICIPANT_EVENTS: readonly EventType[] = [
  'participant_entered',
  'participant_updated',
  'participant_left',
];

/** How many events one reading looks at, however few of them are wanted. */
const EVENTS_LOOKED_AT_MAX = 10_000;

export interface EventPage {
  /** In order. */
  readonly events: readonly Event[];
  /** Up to here there is nothing else that is wanted. */
  readonly reached: Place;
  readonly lastSeq: bigint;
  /**
   * Whether every event after `after` is still there; they go from the oldest on. Not so for a place that
   * a restored database has not come to, or where it has another event.
   */
  readonly isKept: boolean;
}

/** Events after `after`, `limit` of them at most; where there are more, or may be, `reached` is before `lastSeq`. */
export async function selectEvents(
  db: Db,
  tenant: TenantId,
  { after, room, only, limit }: EventFilter & { readonly after: Place; readonly limit: number },
): Promise<EventPage> {
  type Row = Event & Pick<EventPage, 'lastSeq' | 'isKept'> & { seq: bigint | null; endAt: Date | null };
  // What a place holds has been in a JavaScript date, which has milliseconds.
  const { rows } = await db.query<Row>(
    `select s.last_seq as "lastSeq", e.*,
            (s.last_seq = $2
             or s.last_seq > $2 and exists (select from events where tenant_id = $1 and seq = $2 + 1))
            and not exists (select from events where tenant_id = $1 and seq = $2
                               and ($7::timestamptz is null
                                    or at not between $7 - interval '2 ms' and $7 + interval '2 ms')) as "isKept",
            (select at from events
              where tenant_id = $1 and seq = (select least(last_seq, $2 + $6::bigint)
                                                from event_streams where tenant_id = $1)) as "endAt"
       from event_streams s
       left join lateral (
         select seq, at, type, room_uid as "roomUid", subject from events
          where tenant_id = $1 and seq > $2 and seq <= least(s.last_seq, $2 + $6::bigint)
            and ($3::text is null
                 or room_uid in (select uid from rooms where tenant_id = $1 and name = $3))
            and ($4::text[] is null or type = any($4))
          order by seq limit $5) e on true
      where s.tenant_id = $1 order by e.seq`,
    [tenant, after.seq, room, only && PARTICIPANT_EVENTS, limit, EVENTS_LOOKED_AT_MAX, after.at],
  );
  const { lastSeq = 0n, isKept = after.seq === 0n, endAt = null } = rows[0] ?? {};
  const events = rows
    .filter((row) => row.seq !== null)
    .map(({ seq, at, type, roomUid, subject }) => ({
      ...({ type, subject: reviveDates(subject) } as Happening),
      seq,
      at,
      roomUid,
    }));
  const looked = after.seq + BigInt(EVENTS_LOOKED_AT_MAX);
  const end = { seq: looked < lastSeq ? looked : lastSeq, at: endAt };
  const last = events.at(-1) ?? after;
  const reached = events.length < limit ? end : { seq: last.seq, at: last.at };
  return { events, reached, lastSeq, isKept };
}

/** Before the oldest event that is kept. */
export async function findOldestPlace(db: Db, tenant: TenantId): Promise<Place> {
  const { rows } = await db.query<Place>(
    `select coalesce((select min(seq) - 1 from events where tenant_id = $1), last_seq) as seq, null as at
       from event_streams where tenant_id = $1`,
    [tenant],
  );
  return rows[0] ?? BEGINNING;
}

/** JSON has no dates; these are the names of fields that hold one. */
const DATE = /^(at|deadline|.+At)$/;

export function reviveDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reviveDates);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      DATE.test(name) && typeof inner === 'string' ? new Date(inner) : reviveDates(inner),
    ]),
  );
}

/**
 * Forget some events that are older than `days`. Returns how many there were.
 *
 * A tenant's events go from the oldest on, without a gap, also when the clock was turned back; so
 * nothing is skipped that another process is about to delete, and whoever finds an event finds all
 * later ones.
 */
export async function deleteOldEvents(db: Db, options: { days: number; limit: number }): Promise<number> {
  const { rowCount } = await db.query(
    `delete from events e
      using (select tenant_id, max(seq) as seq
               from (select tenant_id, seq from events
                      where at < now() - make_interval(days => $1) order by at limit $2) old
              group by tenant_id) gone
      where e.tenant_id = gone.tenant_id and e.seq <= gone.seq`,
    [options.days, options.limit],
  );
  return rowCount ?? 0;
}
