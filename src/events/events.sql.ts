/** SQL of `events` and `event_streams`. */
import type { Db, Tx } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { Event, Happening } from './event.ts';

export interface NewEvent {
  readonly roomUid: string | null;
  readonly what: Happening;
  /** Whether relays have to refuse something from now on that they did not refuse before, or the reverse. */
  readonly revokes?: boolean;
}

/**
 * Append events; returns the number of the first one, the others follow it.
 *
 * From here to the end of the transaction no other one gets a number of this tenant: do this last.
 */
export async function appendEvents(tx: Tx, tenant: TenantId, events: readonly NewEvent[]): Promise<bigint> {
  const { rows } = await tx.query<{ last: bigint }>(
    `insert into event_streams as s (tenant_id, last_seq, last_revocation)
     values ($1, $2, case when $3 then $2 else 0 end)
     on conflict (tenant_id) do update
       set last_seq = s.last_seq + $2,
           last_revocation = case when $3 then s.last_seq + $2 else s.last_revocation end
     returning last_seq as last`,
    [tenant, events.length, events.some((event) => event.revokes)],
  );
  const first = rows[0]!.last - BigInt(events.length) + 1n;
  await tx.query(
    `insert into events (tenant_id, seq, type, room_uid, subject)
     select $1, $2 + ordinality - 1, type, room_uid, subject::jsonb
       from unnest($3::text[], $4::text[], $5::text[]) with ordinality as e (type, room_uid, subject, ordinality)`,
    [
      tenant,
      first,
      events.map((event) => event.what.type),
      events.map((event) => event.roomUid),
      events.map((event) => JSON.stringify(event.what.subject)),
    ],
  );
  return first;
}

export interface StreamPosition {
  readonly lastSeq: bigint;
  readonly lastRevocation: bigint;
}

/** How far the events of a tenant have come; both 0 before the first. */
export async function findStream(db: Db, tenant: TenantId): Promise<StreamPosition> {
  const { rows } = await db.query<StreamPosition>(
    `select last_seq as "lastSeq", last_revocation as "lastRevocation" from event_streams where tenant_id = $1`,
    [tenant],
  );
  return rows[0] ?? { lastSeq: 0n, lastRevocation: 0n };
}

/** Events after `after`, in order. `room` is the name of a room. */
export async function selectEvents(
  db: Db,
  tenant: TenantId,
  options: { after: bigint; room: string | undefined; limit: number },
): Promise<Event[]> {
  const { rows } = await db.query<Event>(
    `select seq, at, type, room_uid as "roomUid", subject from events
      where tenant_id = $1 and seq > $2
        and ($3::text is null
             or room_uid in (select uid from rooms where tenant_id = $1 and name = $3))
      order by seq limit $4`,
    [tenant, options.after, options.room, options.limit],
  );
  return rows.map((row) => ({ ...row, subject: reviveDates(row.subject) }) as Event);
}

/** JSON has no dates; fields that hold one are named `...At`. */
export function reviveDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reviveDates);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name.endsWith('At') && typeof inner === 'string' ? new Date(inner) : reviveDates(inner),
    ]),
  );
}

/** Forget some events that are older than `days`. Returns how many there were. */
export async function deleteOldEvents(db: Db, options: { days: number; limit: number }): Promise<number> {
  const { rowCount } = await db.query(
    `delete from events where (tenant_id, seq) in (
       select tenant_id, seq from events
        where at < now() - make_interval(days => $1) order by at limit $2 for update skip locked)`,
    [options.days, options.limit],
  );
  return rowCount ?? 0;
}
