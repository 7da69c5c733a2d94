/** SQL of streams: the events of a tenant that a client wants. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Place } from '../../events/event.ts';
import { EVENTS_OF, type Event, type EventFilter, type Happening } from './stream-event.ts';

const { room, participant, moderation, watchdog } = EVENTS_OF;

/** The types of events that a stream may be limited to. */
const TYPES = {
  participants: Object.keys(participant),
  rooms: Object.keys({ ...room, ...participant, ...moderation, ...watchdog }),
};

/** How many events one query scans, even if few of them match. */
const EVENTS_SCANNED_MAX = 10_000;

export interface EventPage {
  /** In order. */
  readonly events: readonly Event[];
  /** There are no other matching events up to here. */
  readonly reached: Place;
  readonly lastSeq: bigint;
  /**
   * Whether every event after `after` still exists; the oldest are deleted first. False for a place that a
   * restored database has not reached, or where it has another event.
   */
  readonly isKept: boolean;
}

/** At most `limit` events after `after`. If there are more, or may be, `reached` is before `lastSeq`. */
export async function listStreamEvents(
  db: Db,
  tenant: TenantId,
  { after, room, only, limit }: EventFilter & { readonly after: Place; readonly limit: number },
): Promise<EventPage> {
  type Row = Event & Pick<EventPage, 'lastSeq' | 'isKept'> & { seq: bigint | null; endAt: Date | null };
  const { name, where, values } = filtered(
    'list-stream-events',
    [tenant, after.seq, limit, EVENTS_SCANNED_MAX, after.at],
    {
      room: room && ['room_uid in (select uid from rooms where tenant_id = $1 and name = ?)', room],
      only: only && ['type = any(?)', TYPES[only]],
    },
  );
  // The time of a place has been in a JavaScript date, which has only milliseconds.
  const { rows } = await db.query<Row>({
    name,
    text: `select s.last_seq as "lastSeq", e.*,
                  (s.last_seq = $2
                   or s.last_seq > $2 and exists (select from events where tenant_id = $1 and seq = $2 + 1))
                  and not exists (select from events where tenant_id = $1 and seq = $2
                                     and ($5::timestamptz is null
                                          or at not between $5 - interval '2 ms'
                                                        and $5 + interval '2 ms')) as "isKept",
                  (select at from events
                    where tenant_id = $1 and seq = (select least(last_seq, $2 + $4::bigint)
                                                      from event_streams where tenant_id = $1)) as "endAt"
             from event_streams s
             left join lateral (
               select seq, at, type, room_uid as "roomUid", subject from events
                where tenant_id = $1 and seq > $2 and seq <= least(s.last_seq, $2 + $4::bigint) ${where}
                order by seq limit $3) e on true
            where s.tenant_id = $1 order by e.seq`,
    values,
  });
  const { lastSeq = 0n, isKept = after.seq === 0n, endAt = null } = rows[0] ?? {};
  const events = rows
    .filter((row) => row.seq !== null)
    .map(({ seq, at, type, roomUid, subject }) => ({
      ...({ type, subject: reviveDates(subject) } as Happening),
      seq,
      at,
      roomUid,
    }));
  const scanned = after.seq + BigInt(EVENTS_SCANNED_MAX);
  const end = { seq: scanned < lastSeq ? scanned : lastSeq, at: endAt };
  const last = events.at(-1) ?? after;
  const reached = events.length < limit ? end : { seq: last.seq, at: last.at };
  return { events, reached, lastSeq, isKept };
}

/** Up to `limit` events of rooms up to the one with number `upTo`, the newest first. Only the newest are scanned. */
export async function findRecentRoomEvents(
  db: Db,
  tenant: TenantId,
  { upTo, room, limit }: { readonly upTo: bigint; readonly room: string | undefined; readonly limit: number },
): Promise<Event[]> {
  const { name, where, values } = filtered(
    'find-recent-room-events',
    [tenant, upTo, limit, EVENTS_SCANNED_MAX, TYPES.rooms],
    { room: room && ['room_uid in (select uid from rooms where tenant_id = $1 and name = ?)', room] },
  );
  const { rows } = await db.query<Event>({
    name,
    text: `select seq, at, type, room_uid as "roomUid", subject from events
            where tenant_id = $1 and seq <= $2 and seq > $2 - $4::bigint and type = any($5) ${where}
            order by seq desc limit $3`,
    values,
  });
  return rows.map((row) => ({ ...row, subject: reviveDates(row.subject) }) as Event);
}

/** JSON has no dates; these are the names of fields that hold one. */
const DATE = /^(at|deadline|.+At)$/;

function reviveDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reviveDates);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      DATE.test(name) && typeof inner === 'string' ? new Date(inner) : reviveDates(inner),
    ]),
  );
}
