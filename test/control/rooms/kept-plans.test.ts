/**
 * What back ends call most is planned once for each connection, and finds its rows by an index, however many
 * rows other tenants have.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKeysById } from '../../../src/access/keys/keys.sql.ts';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { findKeptAnswer, keepAnswer, lockKey } from '../../../src/base/idempotency/idempotency-keys.sql.ts';
import { limitHolderOf } from '../../../src/base/tenants/limited-caller.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findBans, lockBan } from '../../../src/control/bans/bans.sql.ts';
import { findModerationEvents } from '../../../src/control/moderation/moderation-events.sql.ts';
import { insertRoom } from '../../../src/control/rooms/insert-room.sql.ts';
import {
  findActor,
  findParticipant,
  findPresentParticipants,
  findRoster,
  findUsers,
} from '../../../src/control/rooms/participants.sql.ts';
import { DEFAULT_POLICY } from '../../../src/control/rooms/room.ts';
import { findLiveRooms, findRoom, findRooms, lockRoomByName } from '../../../src/control/rooms/rooms.sql.ts';
import { listStreamEvents } from '../../../src/control/streams/stream-events.sql.ts';
import { findWatchdogs, listWaitingWatchdogs } from '../../../src/control/watchdogs/watchdogs.sql.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import { findNewestPlace, findOldestPlace } from '../../../src/events/events.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { callerOf, makeKey, makeTenant, makeTenants } from '../../support/tenants.ts';

const OTHER_TENANTS = 20;
const ROOMS_OF_OTHERS = 300;
/** Rows of the tenant itself, which a statement may read. */
const ROOMS = 20;
const ROWS_MAX = 500;
const RUNS = 3;

const database = useDatabase({ makesUpEvents: true });
let tenant: TenantId;
let keyId: string;
let tx: pg.PoolClient;

beforeAll(async () => {
  const { pool } = database;
  const others = await makeTenants(pool, OTHER_TENANTS);
  tenant = await makeTenant(pool, { status: 'active' });
  keyId = (await makeKey(pool, tenant, 'backend')).id;
  // Outside the pool, whose statements have a time limit.
  const filler = new pg.Client({ connectionString: database.url });
  await filler.connect();
  await fill(filler, others, ROOMS_OF_OTHERS);
  await fill(filler, [tenant], ROOMS);
  await filler.query('analyze');
  await filler.end();
  tx = await pool.connect();
}, 300_000);

afterAll(() => tx.release());

/** Fill the tables of the tenant $1, from its rooms. */
const OF_ROOMS = [
  `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
   select tenant_id, uid, 'ann', 'ann', 'host', 80, '{chat.send}', now() + interval '1 day' from rooms
    where tenant_id = $1`,
  `insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
   select tenant_id, room_uid, username, 'device', role, rank, capabilities, 'key', expires_at from participants
    where tenant_id = $1`,
  `insert into bans (tenant_id, id, room, room_uid, kind, value, rank, created_at, set_at)
   select tenant_id, 'ban_' || uid, name, uid, 'user', 'bob', 100, now() - interval '1 day', now() - interval '1 day'
     from rooms where tenant_id = $1`,
  `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action)
   select tenant_id, 'wd_' || uid, uid, 'max_duration', 86400000, 'notify' from rooms where tenant_id = $1`,
  `insert into idempotency_keys (tenant_id, key, request_hash)
   select tenant_id, uid, sha256('') from rooms where tenant_id = $1`,
  `insert into event_streams (tenant_id, last_seq) select tenant_id, count(*) from rooms
    where tenant_id = $1 group by tenant_id`,
  `insert into tenant_places (tenant_id, limit_name, max, free) values ($1, 'rooms', 10000, 1000)`,
  `insert into events (tenant_id, seq, type, subject)
   select tenant_id, row_number() over (), 'room_created', '{}' from rooms where tenant_id = $1`,
];

/** Rooms, each with a participant, a device, a ban, a watchdog, an event and an idempotency key. */
async function fill(client: pg.Client, tenants: readonly TenantId[], rooms: number): Promise<void> {
  for (const each of tenants) {
    await client.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy)
       select $1::bigint, 'rm_' || md5($1::bigint || ' ' || n), 'room-' || n, 1, $3
         from generate_series(1, $2::integer) n`,
      [each, rooms, DEFAULT_POLICY],
    );
    for (const statement of OF_ROOMS) await client.query(statement, [each]);
  }
}

const uidOf = async () => (await findRoom(tx, tenant, { name: 'room-1' }))!.uid;
const all = { state: undefined, namePrefix: undefined, createdFrom: undefined, createdBefore: undefined };
const page = { actor: undefined, includeLeft: false, after: undefined, limit: 51 };
const created = new Date(0);

const CALLS: Readonly<Record<string, (db: Tx, round: number) => Promise<unknown>>> = {
  'a key': (db) => findKeysById(db, [keyId]),
  'a room by name': (db) => findRoom(db, tenant, { name: 'room-1' }),
  'a room by uid': async (db) => findRoom(db, tenant, { uid: await uidOf() }),
  'locking a room': (db) => lockRoomByName(db, tenant, 'room-1'),
  'a page of rooms': (db) => findRooms(db, tenant, { ...all, after: undefined, limit: 51 }),
  'a small page of rooms': (db) => findRooms(db, tenant, { ...all, after: undefined, limit: 2 }),
  'the next page of live rooms': async (db) =>
    findRooms(db, tenant, { ...all, state: 'LIVE', after: await uidOf(), limit: 51 }),
  'rooms of a name and a time': (db) =>
    findRooms(db, tenant, {
      ...all,
      namePrefix: 'room-1',
      createdFrom: created,
      createdBefore: new Date(),
      after: undefined,
      limit: 51,
    }),
  'live rooms of a stream': (db) => findLiveRooms(db, tenant, { room: undefined, after: 'a', limit: 200 }),
  'the live room of a stream': (db) =>
    findLiveRooms(db, tenant, { room: 'room-1', after: undefined, limit: 200 }),
  'a roster by name': (db) => findRoster(db, tenant, { name: 'room-1' }, page),
  'a roster by uid, for an actor': async (db) =>
    findRoster(db, tenant, { uid: await uidOf() }, { ...page, after: 'a', actor: { username: 'ann' } }),
  'a participant': async (db) => findParticipant(db, tenant, await uidOf(), 'ann'),
  'an actor': async (db) => findActor(db, tenant, await uidOf(), { username: 'ann', thumbprint: 'device' }),
  'participants of a stream': (db) =>
    findPresentParticipants(db, tenant, { room: 'room-1', after: undefined, limit: 200 }),
  'a banned user': (db) => findUsers(db, tenant, null, 'ann'),
  'a ban': (db) => lockBan(db, tenant, 'room-1', { kind: 'user', value: 'bob' }),
  bans: (db) => findBans(db, tenant, { room: undefined, subject: undefined, after: undefined, limit: 51 }),
  'moderation events': (db) =>
    findModerationEvents(db, tenant, { room: undefined, username: 'bob', before: 99n, limit: 51 }),
  watchdogs: async (db) => findWatchdogs(db, tenant, { roomUid: await uidOf(), after: undefined, limit: 51 }),
  'watchdogs of a stream': (db) =>
    listWaitingWatchdogs(db, tenant, { room: undefined, after: undefined, limit: 200 }),
  events: (db) =>
    listStreamEvents(db, tenant, {
      after: { seq: 0n, at: null },
      room: undefined,
      only: undefined,
      limit: 51,
    }),
  'the newest place': (db) => findNewestPlace(db, tenant),
  'the oldest place': (db) => findOldestPlace(db, tenant),
  'an idempotency key': async (db, round) => {
    const key = `key ${round}`;
    const kept = { requestHash: Buffer.alloc(32), answer: Buffer.alloc(1) };
    for (const statement of [lockKey(tenant, key), findKeptAnswer(tenant, key, () => {})]) {
      await db.query(statement as pg.QueryConfig);
    }
    await db.query(keepAnswer(tenant, key, kept) as pg.QueryConfig);
  },
  'a new room': (db, round) =>
    insertRoom(db, limitHolderOf(callerOf(tenant)), {
      name: `new-${round}`,
      policy: DEFAULT_POLICY,
      metadata: '',
    }),
  'new events': (db) => appendNumberedEvents(db, tenant, []),
};

/** Rows that this connection has read since its counters were last reported, perhaps some transactions ago. */
async function countRead(): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as count from pg_stat_xact_user_tables`,
  );
  return rows[0]!.count;
}

/** Runs `work` several times in one transaction. */
async function observe(work: (db: Tx, round: number) => Promise<unknown>) {
  const names = new Set<string>();
  const query = (statement: pg.QueryConfig) => {
    names.add(statement.name!);
    return tx.query(statement);
  };
  await tx.query('begin');
  try {
    const before = await countRead();
    for (let round = 0; round < RUNS; round += 1) await work({ query } as unknown as Tx, round);
    const rowsRead = (await countRead()) - before;
    const plans = await tx.query<{ name: string; custom: number; generic: number }>(
      `select name, custom_plans::integer as custom, generic_plans::integer as generic
         from pg_prepared_statements where name = any($1)`,
      [[...names]],
    );
    return { names: [...names], plans: plans.rows, rowsRead };
  } finally {
    await tx.query('rollback');
  }
}

/** On how many servers each part of the statements of `work` runs. */
async function observeTasks(work: (db: Tx, round: number) => Promise<unknown>): Promise<number[]> {
  const counts: number[] = [];
  const query = async (statement: pg.QueryConfig) => {
    const { rows } = await tx.query(`explain (format json) ${statement.text}`, statement.values);
    const plan = JSON.stringify(rows[0]['QUERY PLAN']);
    for (const [, count] of plan.matchAll(/"Task Count":(\d+)/g)) counts.push(Number(count));
    return tx.query(statement);
  };
  await tx.query('begin');
  try {
    await work({ query } as unknown as Tx, 0);
    return counts;
  } finally {
    await tx.query('rollback');
  }
}

describe('what back ends call most', () => {
  test.each(Object.entries(CALLS))('%s', async (_what, work) => {
    // Citus plans for the server that has the tenant, and so has to find that it is one.
    if (isDistributed()) {
      expect(new Set(await observeTasks(work))).toEqual(new Set([1]));
      return;
    }
    const { names, plans, rowsRead } = await observe(work);
    expect(plans.map(({ name }) => name).sort()).toEqual(names.sort());
    // A custom plan is made for the values of one call.
    for (const { custom, generic } of plans) expect([custom, generic]).toEqual([0, expect.any(Number)]);
    expect(rowsRead).toBeLessThan(ROWS_MAX * RUNS);
  });
});
