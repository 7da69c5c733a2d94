import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { openFirstRoom } from '../../../src/control/admission/open-first-room.sql.ts';
import { deleteOldParticipants, sweepEndedRooms } from '../../../src/control/rooms/old-participants.sql.ts';
import { lockRoom } from '../../../src/control/rooms/rooms.sql.ts';
import { createWatchdog } from '../../../src/control/watchdogs/create-watchdog.ts';
import { listWatchdogs } from '../../../src/control/watchdogs/list-watchdogs.ts';
import { WATCHDOG_CONDITIONS } from '../../../src/control/watchdogs/watchdog.ts';
import { newAdmission } from '../../support/admissions.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

async function enter(tenant: TenantId, roomUid: string, username: string): Promise<void> {
  await enterAlone(database.pool, newAdmission({ tenant, roomUid, username }));
}

test('participants are deleted some time after their room ended, with their admissions', async () => {
  const { pool } = database;
  const tenant = await makeTenant(database.pool);
  for (const [room, endedAt] of [
    ['live', null],
    ['recent', '6 days'],
    ['old', '8 days'],
  ] as const) {
    const roomUid = (await openFirstRoom(pool, tenant, room))!.uid;
    for (const username of ['ann', 'bob', 'cem']) await enter(tenant, roomUid, username);
    if (endedAt === null) continue;
    await pool.query(
      `update rooms set state = 'ENDED', end_reason = 'ended', ended_at = now() - $3::interval
        where tenant_id = $1 and uid = $2`,
      [tenant, roomUid, endedAt],
    );
  }

  const sweep = () => sweepEndedRooms(pool, { keepDays: 7, limit: 2 });
  expect([await sweep(), await sweep()]).toStrictEqual([2, 1]);
  // No participants are left, and the room is no longer swept.
  expect([await sweep(), await sweep()]).toStrictEqual([1, 0]);
  for (const table of ['participants', 'admissions']) {
    const { rows } = await pool.query(
      `select r.name, count(*)::integer from ${table} t join rooms r on r.tenant_id = t.tenant_id and r.uid = t.room_uid
        where t.tenant_id = $1 group by 1 order by 1`,
      [tenant],
    );
    expect(rows).toStrictEqual([
      { name: 'live', count: 3 },
      { name: 'recent', count: 3 },
    ]);
  }
});

describe('a participant who left a live room long ago', () => {
  let tenant: TenantId;
  let roomUid: string;

  beforeEach(async () => {
    tenant = await makeTenant(database.pool);
    roomUid = (await openFirstRoom(database.pool, tenant, 'lobby'))!.uid;
  });

  /** They leave a day apart, the last one `days` ago. */
  async function leave(usernames: readonly string[], days: number): Promise<void> {
    for (const username of usernames) await enter(tenant, roomUid, username);
    for (const [after, username] of usernames.toReversed().entries()) {
      await database.pool.query(
        `update participants
            set left_at = now() - make_interval(days => $4), leave_reason = 'kicked',
                entered_at = now() - interval '30 days', expires_at = now() - make_interval(days => $5)
          where tenant_id = $1 and room_uid = $2 and username = $3`,
        [tenant, roomUid, username, days + after, days],
      );
    }
  }
  const sweep = () => deleteOldParticipants(database.pool, { keepDays: 7, limit: 2 });
  const known = async () => {
    const { rows } = await database.pool.query<{ username: string }>(
      'select username from participants where tenant_id = $1 order by 1',
      [tenant],
    );
    return rows.map(({ username }) => username);
  };

  test('is deleted, some at a time, unless under a restriction', async () => {
    await enter(tenant, roomUid, 'present');
    await leave(['old1', 'old2', 'old3', 'muted', 'silent'], 8);
    await leave(['recent'], 6);
    await database.pool.query(
      `update participants set muted = case when username = 'muted' then '{audio}'::text[] else muted end,
              publish_revoked = case when username = 'silent' then '{video}'::text[] else publish_revoked end
        where tenant_id = $1`,
      [tenant],
    );
    expect([await sweep(), await sweep(), await sweep()]).toStrictEqual([2, 1, 0]);
    expect(await known()).toStrictEqual(['muted', 'present', 'recent', 'silent']);
  });

  test('is deleted after the end of the room, with or without restrictions', async () => {
    await leave(['muted'], 8);
    await database.pool.query(`update participants set muted = '{audio}' where tenant_id = $1`, [tenant]);
    await database.pool.query(
      `update rooms set state = 'ENDED', end_reason = 'ended', ended_at = now() - interval '8 days'
        where tenant_id = $1`,
      [tenant],
    );
    expect(await sweep()).toBe(0);
    expect(await sweepEndedRooms(database.pool, { keepDays: 7, limit: 10 })).toBe(1);
    expect(await known()).toStrictEqual([]);
  });

  test('waits for the next sweep while the room is locked', async () => {
    await leave(['old'], 8);
    await inTransaction(database.pool, async (tx) => {
      await lockRoom(tx, tenant, roomUid);
      expect(await sweep()).toBe(0);
    });
    expect(await sweep()).toBe(1);
  });

  test('is deleted without moving the deadline of a watchdog', async () => {
    const { pool } = database;
    await leave(['ann', 'bob', 'cem', 'dan'], 10);
    await pool.query(
      `update participants set role = 'host', last_seen_at = ${moved('left_at', '-1 hour')}
        where tenant_id = $1 and username in ('ann', 'bob')`,
      [tenant],
    );
    await pool.query('delete from admissions where tenant_id = $1', [tenant]);
    const deadlines = async () => {
      const { watchdogs } = await listWatchdogs(pool, tenant, {
        room: 'lobby',
        after: undefined,
        size: 10,
        actor: undefined,
      });
      return Object.fromEntries(watchdogs.map(({ condition, deadline }) => [condition, deadline]));
    };
    const rule = { durationMs: 365 * 86_400_000, action: 'notify', warnBeforeMs: 0 } as const;
    for (const condition of WATCHDOG_CONDITIONS) {
      await inTransaction(pool, (tx) =>
        createWatchdog(tx, callerOf(tenant), {
          room: 'lobby',
          rule: { ...rule, condition },
          actor: undefined,
        }),
      );
    }
    const before = await deadlines();
    expect(before.empty_for).not.toBeNull();
    expect(before.unused_for).toBeNull();
    while ((await sweep()) > 0);
    expect(await known()).toStrictEqual([]);
    expect(await deadlines()).toStrictEqual(before);

    await enter(tenant, roomUid, 'eve');
    await pool.query(`update participants set entered_at = now() - interval '20 days' where tenant_id = $1`, [
      tenant,
    ]);
    const alone = (await deadlines()).alone_for!;
    expect(alone).toStrictEqual(before.empty_for);
  });
});
