import { beforeEach, expect, test } from 'vitest';
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { numberEvents, numberEventsSoon } from '../../src/events/number-events.ts';
import { upsertListener } from '../../src/events/turns.sql.ts';
import { useDatabase } from '../support/database.ts';
import { openHolder } from '../support/holder.ts';
import { makeTenants } from '../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
let db: Pool;
let failed: TenantId[];

beforeEach(async () => {
  db = database.pool;
  failed = [];
  await db.query('delete from event_listeners; delete from event_turns');
});

const TYPES = ['room_created', 'participant_entered', 'room_ended'] as const;

async function append(tenant: TenantId, ...types: readonly string[]): Promise<void> {
  await db.query(
    `insert into unnumbered_events (tenant_id, type, subject, revokes)
     select $1, type, '{}', type = 'room_ended' from unnest($2::text[]) type`,
    [tenant, types],
  );
}

const soon = (tenants: readonly TenantId[]) =>
  numberEventsSoon(db, tenants, (_, tenant) => failed.push(tenant));

async function logOf(tenant: TenantId): Promise<string[]> {
  const { rows } = await db.query<{ seq: bigint; type: string }>(
    'select seq, type from events where tenant_id = $1 order by seq',
    [tenant],
  );
  return rows.map(({ seq, type }) => `${seq} ${type}`);
}

async function streamOf(tenant: TenantId): Promise<{ last: bigint; revoked: bigint }> {
  const { rows } = await db.query(
    'select last_seq as last, last_revocation as revoked from event_streams where tenant_id = $1',
    [tenant],
  );
  return rows[0];
}

/** How many transactions have numbered events of these tenants: each has an id of its own. */
async function countTransactions(tenants: readonly TenantId[]): Promise<number> {
  const { rows } = await db.query(
    'select count(distinct xmin::text)::integer as count from event_streams where tenant_id = any($1)',
    [tenants],
  );
  return rows[0].count;
}

test('numbers the events of many tenants in one transaction, each in order', async () => {
  const tenants = await makeTenants(db, 12);
  for (const tenant of tenants) await append(tenant, 'room_created');
  await soon(tenants);
  const some = tenants.slice(2);
  for (const tenant of some) await append(tenant, ...TYPES);
  await append(tenants[2]!, 'room_created');
  await soon(tenants);
  // Servers number their own tenants, each in a transaction of its own.
  if (!isDistributed()) expect(await countTransactions(some)).toBe(1);
  expect(await logOf(tenants[0]!)).toEqual(['1 room_created']);
  expect(await streamOf(tenants[0]!)).toEqual({ last: 1n, revoked: 0n });
  const four = ['1 room_created', '2 room_created', '3 participant_entered', '4 room_ended'];
  expect(await logOf(tenants[2]!)).toEqual([...four, '5 room_created']);
  expect(await streamOf(tenants[2]!)).toEqual({ last: 5n, revoked: 4n });
  for (const tenant of tenants.slice(3)) {
    expect(await logOf(tenant)).toEqual(four);
    expect(await streamOf(tenant)).toEqual({ last: 4n, revoked: 4n });
  }
  expect((await db.query('select from unnumbered_events')).rowCount).toBe(0);
});

test('an event that revokes nothing leaves the last revocation', async () => {
  const [tenant] = await makeTenants(db, 1);
  await append(tenant!, 'room_ended');
  await numberEvents(db, [tenant!]);
  await append(tenant!, 'room_created');
  await soon([tenant!]);
  expect(await streamOf(tenant!)).toEqual({ last: 2n, revoked: 1n });
});

test('queues a turn of each listener that wants one of the events', async () => {
  const [one, other] = await makeTenants(db, 2);
  for (const tenant of [one!, other!]) await append(tenant, 'room_created');
  await soon([one!, other!]);
  await upsertListener(db, { name: 'entries', types: ['participant_entered'] });
  await upsertListener(db, { name: 'rooms', types: ['room_created', 'room_ended'] });
  await append(one!, ...TYPES);
  await append(other!, 'room_created');
  await soon([one!, other!]);
  const { rows } = await db.query(
    'select listener, tenant_id as tenant, seq, after_seq as after from event_turns order by 1, seq desc',
  );
  expect(rows).toEqual([
    { listener: 'entries', tenant: one, seq: 3n, after: 1n },
    { listener: 'rooms', tenant: one, seq: 4n, after: 1n },
    { listener: 'rooms', tenant: other, seq: 2n, after: 1n },
  ]);
});

test('numbers the events of the others where one stream is locked, or one log is broken', async () => {
  const [locked, broken, ...free] = await makeTenants(db, 6);
  for (const tenant of [locked!, broken!, ...free]) await append(tenant, 'room_created');
  await soon([locked!, broken!, ...free]);
  // Its next number is taken.
  await db.query('update event_streams set last_seq = 0 where tenant_id = $1', [broken]);
  const holder = await openHolder(db);
  await holder.query('select from event_streams where tenant_id = $1 for update', [locked]);
  for (const tenant of [locked!, broken!, ...free]) await append(tenant, 'room_ended');
  await soon([locked!, broken!, ...free]);
  expect(failed).toEqual([broken]);
  for (const tenant of free) expect(await logOf(tenant)).toEqual(['1 room_created', '2 room_ended']);
  expect(await logOf(locked!)).toEqual(['1 room_created']);
  await holder.release();
  await soon([locked!]);
  expect(await logOf(locked!)).toEqual(['1 room_created', '2 room_ended']);
});

test('several processes at once give each event one number', async () => {
  const tenants = await makeTenants(db, 8);
  const happen = async (tenant: TenantId) => {
    for (let round = 0; round < 10; round += 1) {
      await append(tenant, ...TYPES);
      await (round % 2 ? numberEvents(db, [tenant]) : soon(tenants));
    }
  };
  await Promise.all(tenants.map(happen));
  await soon(tenants);
  for (const tenant of tenants) {
    const log = await logOf(tenant);
    expect(log.map((line) => line.split(' ')[0])).toEqual(Array.from({ length: 30 }, (_, at) => `${at + 1}`));
    expect(await streamOf(tenant)).toMatchObject({ last: 30n });
  }
  expect(failed).toEqual([]);
});

test('more tenants than one transaction takes', async () => {
  const tenants = await makeTenants(db, 130);
  for (const tenant of tenants) await append(tenant, 'room_created');
  await soon(tenants);
  await db.query(
    `insert into unnumbered_events (tenant_id, type, subject)
     select tenant, 'room_ended', '{}' from unnest($1::bigint[]) tenant`,
    [tenants],
  );
  await soon(tenants);
  for (const tenant of tenants) expect(await streamOf(tenant)).toMatchObject({ last: 2n });
});
