/**
 * Appending to the log where tables are distributed: Citus runs no statement that writes several tables, and sends rows
 * to the tenant's server at once only if they are written as values.
 */
import type { Db, Tx } from '../base/db/pool.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { NewEvent } from './event.ts';

/** Rows of one insert. */
const ROWS_MAX = 50;

export async function insertUnnumbered(db: Db, tenant: TenantId, events: readonly NewEvent[]): Promise<void> {
  const rows = events.map(({ type, roomUid, subject, revokes }) => [
    type,
    roomUid,
    JSON.stringify(subject),
    revokes ?? false,
  ]);
  await insertRows(db, tenant, 'unnumbered_events', ['type', 'room_uid', 'subject', 'revokes'], rows);
}

/** Number the waiting events of a locked stream after `before`, then `events`. Returns the number of the last one. */
export async function numberInSteps(
  tx: Tx,
  tenant: TenantId,
  before: bigint,
  events: readonly NewEvent[],
): Promise<bigint> {
  const waiting = await takeWaiting(tx, tenant);
  const now = await readTime(tx);
  const added = events.map((event) => ({ ...event, subject: JSON.stringify(event.subject), at: now }));
  const all = [...waiting, ...added].map((event, place) => ({
    ...event,
    seq: before + BigInt(place) + 1n,
  }));
  if (all.length === 0) return before;
  await insertRows(
    tx,
    tenant,
    'events',
    ['seq', 'at', 'type', 'room_uid', 'subject'],
    all.map(({ seq, at, type, roomUid, subject }) => [seq, at, type, roomUid, subject]),
  );
  await insertTurns(tx, tenant, before, all);
  const last = all.at(-1)!.seq;
  await tx.query({
    name: 'move-stream',
    text: `update event_streams set last_seq = $2, last_revocation = coalesce($3::bigint, last_revocation)
            where tenant_id = $1`,
    values: [tenant, last, all.findLast(({ revokes }) => revokes)?.seq ?? null],
  });
  return last;
}

interface Waiting extends Pick<NewEvent, 'type' | 'roomUid' | 'revokes'> {
  readonly at: string;
  readonly subject: string;
}

async function takeWaiting(tx: Tx, tenant: TenantId): Promise<Waiting[]> {
  const { rows } = await tx.query<Waiting & { id: bigint }>({
    name: 'read-unnumbered-events',
    text: `select id, at::text as at, type, room_uid as "roomUid", subject::text as subject, revokes
             from unnumbered_events where tenant_id = $1 order by id`,
    values: [tenant],
  });
  if (rows.length > 0) {
    // Others are inserted meanwhile.
    await tx.query({
      name: 'delete-numbered-events',
      text: 'delete from unnumbered_events where tenant_id = $1 and id = any($2)',
      values: [tenant, rows.map(({ id }) => id)],
    });
  }
  return rows;
}

async function readTime(tx: Tx): Promise<string> {
  const { rows } = await tx.query<{ now: string }>({
    name: 'time-of-events',
    text: 'select clock_timestamp()::text as now',
  });
  return rows[0]!.now;
}

async function insertTurns(
  tx: Tx,
  tenant: TenantId,
  after: bigint,
  events: readonly { readonly seq: bigint; readonly type: string }[],
): Promise<void> {
  const { rows } = await tx.query<{ name: string; types: string[] }>({
    name: 'list-listeners',
    text: 'select name, types from event_listeners',
  });
  const turns = rows.flatMap(({ name, types }) => {
    const last = events.findLast(({ type }) => types.includes(type));
    return last ? [[name, last.seq, after]] : [];
  });
  await insertRows(tx, tenant, 'event_turns', ['listener', 'seq', 'after_seq'], turns);
}

/** In their order. */
async function insertRows(
  db: Db,
  tenant: TenantId,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_MAX) {
    const part = rows.slice(from, from + ROWS_MAX);
    const values = part.map((_, row) => {
      const places = columns.map((_name, column) => `$${2 + row * columns.length + column}`);
      return `($1, ${places.join(', ')})`;
    });
    await db.query({
      name: `insert-${table}-${part.length}`,
      text: `insert into ${table} (tenant_id, ${columns.join(', ')}) values ${values.join(', ')}`,
      values: [tenant, ...part.flat()],
    });
  }
}
