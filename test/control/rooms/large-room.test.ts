/** A long-lived room: statements stay fast, however many participants have left it. */

import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { Db, Tx } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { countOthers, hasLookalike } from '../../../src/control/admission/admissions.sql.ts';
import { openFirstRoom } from '../../../src/control/admission/open-first-room.sql.ts';
import { liftEndedBans } from '../../../src/control/bans/bans.sql.ts';
import { findRevocations } from '../../../src/control/revocations/revocations.sql.ts';
import { deleteOldParticipants, sweepEndedRooms } from '../../../src/control/rooms/old-participants.sql.ts';
import { expel, findPresentParticipants, findRoster } from '../../../src/control/rooms/participants.sql.ts';
import { findRoom, findRooms, lockRoomByName } from '../../../src/control/rooms/rooms.sql.ts';
import { lockTargets, settleWatchdog } from '../../../src/control/watchdogs/settle-watchdog.sql.ts';
import { newAdmission } from '../../support/admissions.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const GONE = 20_000;
const PRESENT = 20;
const OTHER_ROOMS = 2_000;
/** How many rows a statement may read. */
const ROWS_MAX = 2_000;

const CONDITIONS = [
  'max_duration',
  'unused_for',
  'empty_for',
  'host_absent_for',
  'alone_for',
  'participant_max_duration',
];

const database = useDatabase();
let tenant: TenantId;
let roomUid: string;

beforeAll(async () => {
  const { pool } = database;
  tenant = await makeTenant(pool, { status: 'active', exempt: true });
  roomUid = (await openFirstRoom(pool, tenant, 'lobby'))!.uid;
  await pool.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, entered_at,
                               expires_at, left_at, leave_reason, muted, revoked_at)
     select $1::bigint, $2, 'gone' || n, 'gone' || n, case when n % 4 = 0 then 'host' else 'audience' end, 20, '{chat.send}'::text[],
            now() - interval '2 days', now() - interval '1 day', now() - interval '1 day', 'expired',
            case when n % 4 = 0 then '{audio}'::text[] else '{}'::text[] end,
            case when n % 4 = 0 then now() - interval '1 day' end
       from generate_series(1, $3::integer) n
     union all
     select $1::bigint, $2, 'here' || n, 'here' || n, 'audience', 20, '{chat.send}'::text[], now(), now() + interval '10 minutes',
            null, null, '{}'::text[], null
       from generate_series(1, $4::integer) n`,
    [tenant, roomUid, GONE, PRESENT],
  );
  await pool.query(
    `insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
     select tenant_id, room_uid, username, 'device', role, rank, capabilities, 'key', expires_at from participants`,
  );
  await pool.query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy, state, created_at, ended_at, end_reason, is_swept)
     select $1, 'rm_' || n, 'over' || n, 1, '{}', 'ENDED', now() - interval '20 days', now() - interval '10 days',
            'ended', true
       from generate_series(1, $2::integer) n`,
    [tenant, OTHER_ROOMS],
  );
  await pool.query(
    `insert into bans (tenant_id, id, room, room_uid, kind, value, rank, created_at, set_at, expires_at)
     select $1, 'ban_' || n, case when n % 2 = 0 then 'lobby' end, case when n % 2 = 0 then $2 end, 'user', 'banned' || n, 100, now() - interval '1 hour', now() - interval '1 hour',
            case when n % 5 = 0 then now() + interval '1 day' end
       from generate_series(1, 5000) n`,
    [tenant, roomUid],
  );
  await pool.query(
    `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action)
     select $1, condition, $2, condition, 86400000, 'notify' from unnest($3::text[]) condition`,
    [tenant, roomUid, CONDITIONS],
  );
  await pool.query('vacuum analyze');
});

/** Rows that the nodes of a plan return and remove, of all servers. As text, because Citus writes faulty JSON. */
function rowsOf(plan: readonly string[]): number {
  let rows = 0;
  let loops = 1;
  for (const line of plan) {
    const actual = /actual rows=([\d.]+) loops=(\d+)/.exec(line);
    if (actual) {
      loops = Number(actual[2]);
      rows += Number(actual[1]) * loops;
    }
    rows += Number(/Rows Removed by (?:Join )?Filter: (\d+)/.exec(line)?.[1] ?? 0) * loops;
  }
  return rows;
}

/** How many rows the statements of `work` read in total. Named statements run with their generic plan. */
async function rowsRead(work: (db: Tx) => Promise<unknown>): Promise<number> {
  const client = await database.pool.connect();
  let rows = 0;
  const query = async (statement: string | pg.QueryConfig, values?: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement, values } : statement;
    const explain = 'explain (analyze, timing off)';
    await client.query('savepoint before');
    const { rows: plans } = await (typeof statement === 'string'
      ? client.query(`${explain} ${config.text}`, config.values)
      : client
          .query(`prepare kept as ${config.text}`)
          .then(() => client.query(`${explain} execute kept (${config.values!.map(literal)})`)));
    if (typeof statement !== 'string') await client.query('deallocate kept');
    rows += rowsOf(plans.map((line) => line['QUERY PLAN']));
    await client.query('rollback to before');
    return client.query(config.text, config.values);
  };
  try {
    // Citus plans with the values.
    const mode = isDistributed() ? 'auto' : 'force_generic_plan';
    await client.query(`begin; set local plan_cache_mode = ${mode}`);
    await work({ query } as unknown as Tx);
  } finally {
    await client.query('rollback');
    client.release();
  }
  return rows;
}

const literal = (value: unknown) => pg.escapeLiteral(String(value));

describe('the cost of a room that many participants have left', () => {
  const page = { actor: undefined, includeLeft: false, after: undefined, limit: 101 };
  const rooms = {
    state: undefined,
    namePrefix: 'lob',
    createdFrom: undefined,
    createdBefore: undefined,
    after: undefined,
    limit: 5,
  };
  const newcomer = () => newAdmission({ tenant, roomUid, username: 'newcomer' });

  test.each<[string, (db: Tx) => Promise<unknown>]>([
    ['locking it', (db) => lockRoomByName(db, tenant, 'lobby')],
    ['its number of participants', (db) => findRoom(db, tenant, { uid: roomUid })],
    ['the list of live rooms', (db) => findRooms(db, tenant, { ...rooms, state: 'LIVE' })],
    ['the roster', (db) => findRoster(db, tenant, { name: 'lobby' }, page)],
    ['a page of it', (db) => findRoster(db, tenant, { uid: roomUid }, { ...page, after: 'here18' })],
    [
      'participants who are present',
      (db) => findPresentParticipants(db, tenant, { room: undefined, after: undefined, limit: 200 }),
    ],
    [
      'the next page of participants who are present',
      (db) =>
        findPresentParticipants(db, tenant, {
          room: 'lobby',
          after: { roomUid, username: 'here18' },
          limit: 200,
        }),
    ],
    ['a new user', (db) => countOthers(db, newcomer(), 1000)],
    ['a name', (db) => hasLookalike(db, newcomer())],
    ['the leave of all participants', (db) => expel(db, tenant, roomUid, 'ended')],
    ['a snapshot of revocations', (db) => findRevocations(db, tenant)],
    ...CONDITIONS.map((id): [string, (db: Tx) => Promise<unknown>] => [
      `a look at ${id}`,
      async (db) => {
        await lockTargets(db, { tenant, id, roomUid });
        await settleWatchdog(db, { tenant, id });
      },
    ]),
  ])('%s reads only what is present', async (what, work) => {
    // The admissions of all participants are deleted together, so all are read.
    const admissions = what === 'the leave of all participants' ? 2 * (GONE + PRESENT) : 0;
    expect(await rowsRead(work)).toBeLessThan(ROWS_MAX + admissions);
  });

  test.each<[string, (db: Db) => Promise<unknown>]>([
    ['participants', (db) => deleteOldParticipants(db, { keepDays: 7, limit: 5000 })],
    ['ended rooms', (db) => sweepEndedRooms(db, { keepDays: 7, limit: 5000 })],
    ['bans', (db) => liftEndedBans(db, 5000)],
  ])('a sweep of %s that finds nothing reads nothing', async (_what, work) => {
    expect(await rowsRead(work)).toBeLessThan(10);
  });
});
