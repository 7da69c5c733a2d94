/** SQL that reads the public events of a tenant. `append-events.sql.ts` writes them. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';

/** How many events one query looks at, even if it finds few. */
const EVENTS_SCANNED_MAX = 10_000n;

/** A page ends after an event with which it has so many bytes: what one answer, one stream and one request have in memory. */
export const PAGE_BYTES = 256 * 1_024;

/** The name of the room of an event, from `events e`; null: it has none. */
export const ROOM_NAME = `case when e.room_uid is not null then coalesce(e.subject ->> 'room', e.subject ->> 'name') end`;

export interface PublicEventPage {
  /** In order. */
  readonly events: readonly LoggedEvent[];
  /** There are no other events of these types up to this number. */
  readonly reached: bigint;
  /** The number of the newest event. */
  readonly lastSeq: bigint;
  /** Events after this number are kept. */
  readonly keptAfter: bigint;
}

/** At most `limit` events of these types after number `after`, and fewer if they are large. `rooms`: only those of rooms of such names; none: all. */
export async function listPublicEvents(
  db: Db,
  tenant: TenantId,
  {
    after,
    types,
    rooms = [],
    limit,
  }: {
    readonly after: bigint;
    readonly types: readonly string[];
    readonly rooms?: readonly string[];
    readonly limit: number;
  },
): Promise<PublicEventPage> {
  const end = after + EVENTS_SCANNED_MAX;
  type Row = LoggedEvent &
    Pick<PublicEventPage, 'lastSeq' | 'keptAfter'> & { seq: bigint | null; found: bigint };
  const { name, where, values } = filtered('list-public-events', [tenant, after, end, types, limit], {
    rooms: rooms.length > 0 && [`${ROOM_NAME} like any(?)`, rooms.map(likePattern)],
  });
  const { rows } = await db.query<Row>({
    name,
    text: `select s.last_seq as "lastSeq", e.*,
                  coalesce((select min(seq) - 1 from events where tenant_id = $1), s.last_seq) as "keptAfter"
             from event_streams s
             left join lateral (
               select seq, at, type, "roomUid", subject, found
                 from (select *, count(*) over () as found,
                              sum(octet_length(subject::text)) over (order by seq) - octet_length(subject::text) as before
                         from (select seq, at, type, room_uid as "roomUid", subject from events e
                                where tenant_id = $1 and seq > $2 and seq <= least(s.last_seq, $3) and type = any($4) ${where}
                                order by seq limit $5) as wanted) as sized
                where before < ${PAGE_BYTES}) e on true
            where s.tenant_id = $1 order by e.seq`,
    values,
  });
  const { lastSeq = 0n, keptAfter = 0n } = rows[0] ?? {};
  const events = rows
    .filter(({ seq }) => seq !== null)
    .map(({ seq, at, type, roomUid, subject }) => ({ seq, at, type, roomUid, subject }));
  const isWhole = events.length < limit && events.length === Number(rows[0]?.found ?? 0);
  const reached = isWhole ? (end < lastSeq ? end : lastSeq) : events.at(-1)!.seq;
  return { events, reached, lastSeq, keptAfter };
}

/** A pattern of rooms for `like`. */
function likePattern(pattern: string): string {
  return pattern.replaceAll('_', '\\_').replaceAll('*', '%');
}

/** One event; `undefined` if it is not kept, or not of these types. */
export async function findPublicEvent(
  db: Db,
  tenant: TenantId,
  seq: bigint,
  types: readonly string[],
): Promise<LoggedEvent | undefined> {
  const { rows } = await db.query<LoggedEvent>({
    name: 'find-public-event',
    text: `select seq, at, type, room_uid as "roomUid", subject from events
            where tenant_id = $1 and seq = $2 and type = any($3)`,
    values: [tenant, seq, types],
  });
  return rows[0];
}
