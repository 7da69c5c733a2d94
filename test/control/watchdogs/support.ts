/** Rooms with watchdogs, created directly in the database, and a clock that shifts their rows. */
import pino from 'pino';
import { expect } from 'vitest';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newId } from '../../../src/base/lib/ids.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { DEFAULT_POLICY, type Room } from '../../../src/control/rooms/room.ts';
import { findRoom } from '../../../src/control/rooms/rooms.sql.ts';
import { createWatchdog } from '../../../src/control/watchdogs/create-watchdog.ts';
import type { Watchdog, WatchdogRule } from '../../../src/control/watchdogs/watchdog.ts';
import { findWatchdog } from '../../../src/control/watchdogs/watchdogs.sql.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { makeDeps } from '../../../src/run/service.ts';
import { newAdmission } from '../../support/admissions.ts';
import { moved } from '../../support/append-only.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { noteEarlierLapses } from '../../support/lapses.ts';
import { callerOf } from '../../support/tenants.ts';

/** The dependencies of one process, on an existing pool. */
export function depsOn(db: Pool): Deps {
  return makeDeps({
    config: bareConfig(''),
    pools: { db, admissionDb: db, backgroundDb: db, watchDb: db },
    log: pino({ level: 'silent' }),
    provider: undefined,
    wakeTopUps: () => {},
  });
}

/** Without an event. */
export async function makeRoom(db: Pool, tenant: TenantId): Promise<Room> {
  const uid = newId('rm');
  await db.query('insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, $3, 1, $4)', [
    tenant,
    uid,
    uid.replace('_', '-'),
    DEFAULT_POLICY,
  ]);
  return (await findRoom(db, tenant, { uid }))!;
}

export function arm(
  db: Pool,
  tenant: TenantId,
  room: Room,
  rule: Partial<WatchdogRule> & Pick<WatchdogRule, 'condition'>,
): Promise<Watchdog> {
  const whole = { durationMs: 60_000, action: 'notify', warnBeforeMs: 0, ...rule } as const;
  return inTransaction(db, (tx) =>
    createWatchdog(tx, callerOf(tenant), { room: room.name, rule: whole, actor: undefined }),
  );
}

export async function enter(
  db: Pool,
  tenant: TenantId,
  room: Room,
  username: string,
  role: 'host' | 'audience' = 'audience',
): Promise<void> {
  const given = { tenant, roomUid: room.uid, username, role, rank: 0, capabilities: ['publish.audio'] };
  const admission = await enterAlone(db, newAdmission(given));
  expect(admission).toBeDefined();
}

/** Moves all times in the rows of a room and its watchdogs back by `seconds`. */
export async function passTime(
  db: Pool,
  tenant: TenantId,
  room: Room,
  seconds: number,
  { onlyUser }: { onlyUser?: string } = {},
): Promise<void> {
  const ofRoom = [tenant, room.uid];
  const back = (...columns: string[]) =>
    columns.map((column) => `${column} = ${moved(column, `-${seconds} seconds`)}`).join(', ');
  if (onlyUser === undefined) {
    await db.query(`update rooms set ${back('created_at')} where tenant_id = $1 and uid = $2`, ofRoom);
    const times = {
      watchdogs: back('check_at', 'held_since', 'fired_for', 'warned_at'),
      admissions: back('admitted_at', 'expires_at'),
    };
    for (const [table, moves] of Object.entries(times)) {
      await db.query(`update ${table} set ${moves} where tenant_id = $1 and room_uid = $2`, ofRoom);
    }
  }
  await db.query(
    `update participants set ${back('entered_at', 'expires_at', 'left_at', 'last_seen_at')}
      where tenant_id = $1 and room_uid = $2 and ($3::text is null or username = $3)`,
    [...ofRoom, onlyUser],
  );
  await noteEarlierLapses(db, tenant, room.uid);
}

/** Ends the pause between two looks at a watchdog. */
export async function passPause(db: Pool): Promise<void> {
  await db.query(
    `update watchdogs set check_at = now()
      where check_at > now() and check_at <= ${moved('looked_at', '100 milliseconds')}`,
  );
}

export async function find(db: Pool, tenant: TenantId, { id }: Pick<Watchdog, 'id'>): Promise<Watchdog> {
  return (await findWatchdog(db, tenant, id))!;
}

/** In seconds from now; `null`: only after an event. */
export async function secondsToNextLook(db: Pool, { id }: Pick<Watchdog, 'id'>): Promise<number | null> {
  const { rows } = await db.query<{ seconds: number | null }>(
    'select extract(epoch from check_at - now())::double precision as seconds from watchdogs where id = $1',
    [id],
  );
  return rows[0]!.seconds;
}

/** With a tolerance: the test itself takes time, and tokens expire at whole seconds. */
export async function expectNextLook(
  db: Pool,
  watchdog: Pick<Watchdog, 'id'>,
  seconds: number | null,
): Promise<void> {
  const found = await secondsToNextLook(db, watchdog);
  if (seconds === null || found === null) {
    expect(found).toBe(seconds);
    return;
  }
  expect(found).toBeLessThanOrEqual(seconds);
  expect(found).toBeGreaterThan(seconds - 5);
}

/** The types of a tenant's events, in order. */
export async function eventTypes(db: Pool, tenant: TenantId): Promise<string[]> {
  await numberEvents(db, [tenant]);
  const { rows } = await db.query<{ type: string }>(
    'select type from events where tenant_id = $1 order by seq',
    [tenant],
  );
  return rows.map(({ type }) => type);
}
