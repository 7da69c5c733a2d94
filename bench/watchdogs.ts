/** How late due watchdogs fire, among many that are not due. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import type { Benchmark } from './benchmark.ts';
import { makeBenchTenant, openService, openStand, type Stand } from './stand.ts';
import { percentile } from './statistics.ts';

const TENANTS = 20;
const ROOMS_PER_TENANT = 1_000;
const CONDITIONS = ['max_duration', 'empty_for', 'host_absent_for', 'alone_for', 'participant_max_duration'];
const ARMED = TENANTS * ROOMS_PER_TENANT * CONDITIONS.length;
const DUE_PER_SECOND = 50;
const SECONDS = 20;
const DUE = DUE_PER_SECOND * SECONDS;
const PARTICIPANTS = 3;
const PROCESSES = 2;
const ASK_EVERY_MS = 10;
/** Due watchdogs. */
const DURATION_SECONDS = 3_600;
const LATE_MS_MAX = 1_000;
const GIVE_UP_MS = 60_000;

export const watchdogs: Benchmark = {
  name: 'watchdogs',
  summary: `how late watchdogs fire, ${DUE_PER_SECOND} a second of ${ARMED} that are armed`,
  protocol: `${TENANTS} tenants have ${ROOMS_PER_TENANT} rooms each, and every room has ${CONDITIONS.length} watchdogs with a condition of its own:
    ${ARMED} that are armed. For ${SECONDS} s, ${DUE_PER_SECOND} of those on the duration of their room fall due each second, evenly, in
    rooms of which each has ${PARTICIPANTS} participants. They end the room, kick, take the right to publish, and notify, in
    turns. ${PROCESSES} processes of the whole service run side by side. The result is the time from the deadline of a
    watchdog until another connection, which polls every ${ASK_EVERY_MS} ms, sees that it has fired. There is one round.`,
  async run(bench) {
    const stand = await openStand(bench);
    bench.progress(`arming ${ARMED} watchdogs`);
    const tenants = await Promise.all(
      Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'backend')),
    );
    for (const { tenant } of tenants) await armRooms(stand, tenant);
    await openService(bench, stand, { processes: PROCESSES });
    const due = await letFallDue(stand);
    bench.progress(`watching for ${SECONDS} s`);
    const lateMs = Float64Array.from(await watch(stand, due)).sort();

    const told = await stand.db.query<{ count: number; distinct: number }>(
      `select count(*)::integer as count, count(distinct subject ->> 'id')::integer as distinct
         from events where type = 'watchdog_fired'`,
    );
    const { count, distinct } = told.rows[0]!;
    if (count !== DUE || distinct !== DUE) throw new Error(`${count} events tell of ${distinct} watchdogs`);
    bench.note('fired', count, 'watchdogs');
    bench.note('lateness, median', percentile(lateMs, 50), 'ms');
    bench.note('lateness, p99', percentile(lateMs, 99), 'ms', { atMost: LATE_MS_MAX });
    bench.note('lateness, most', lateMs.at(-1)!, 'ms');
  },
};

/** Rooms whose watchdogs have been checked, and do not fire during the benchmark. */
async function armRooms(stand: Stand, tenant: TenantId): Promise<void> {
  await stand.db.query(
    `with r as (
       insert into rooms (tenant_id, uid, name, incarnation, policy)
       select $1, 'rm_' || md5(random()::text), 'room-' || n, 1, '{}' from generate_series(1, $2::integer) n
       returning uid
     )
     insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, check_at)
     select $1, 'wd_' || md5(random()::text), uid, condition, 86400000, 'notify', now() + interval '1 day'
       from r, unnest($3::text[]) as condition`,
    [tenant, ROOMS_PER_TENANT, CONDITIONS],
  );
  await stand.db.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
     select tenant_id, uid, 'user-' || n, 'user-' || n, 'audience', 0, '{}', now() + interval '1 day'
       from rooms, generate_series(1, $2::integer) n where tenant_id = $1`,
    [tenant, PARTICIPANTS],
  );
  await stand.db.query('analyze');
}

interface DueWatchdog {
  readonly tenant: TenantId;
  readonly id: string;
}

/** The first becomes due in a second. */
async function letFallDue(stand: Stand): Promise<DueWatchdog[]> {
  const { rows } = await stand.db.query<DueWatchdog>(
    `with due as (
       select tenant_id, id, room_uid, now() + interval '1 s' * (1 + (row_number() over ())::float8 / $1) as deadline,
              (array['end_room', 'kick', 'revoke_publish', 'notify'])[1 + row_number() over () % 4] as action
         from (select * from watchdogs where condition = 'max_duration' order by random() limit $2) w
     ), r as (
       update rooms r set created_at = d.deadline - make_interval(secs => $3)
         from due d where r.tenant_id = d.tenant_id and r.uid = d.room_uid
     )
     update watchdogs w set duration_ms = $3::bigint * 1000, check_at = d.deadline, action = d.action
       from due d where w.tenant_id = d.tenant_id and w.id = d.id
     returning w.tenant_id as tenant, w.id`,
    [DUE_PER_SECOND, DUE, DURATION_SECONDS],
  );
  return rows;
}

/** Measures how late each of them fires. */
async function watch(stand: Stand, due: readonly DueWatchdog[]): Promise<number[]> {
  const waiting = new Map(due.map(({ id, tenant }) => [id, tenant]));
  const lateMs: number[] = [];
  const until = performance.now() + SECONDS * 1000 + GIVE_UP_MS;
  while (waiting.size > 0) {
    if (performance.now() > until) throw new Error(`${waiting.size} watchdogs have not fired`);
    const { rows } = await stand.db.query<{ id: string; ms: number }>({
      name: 'find-fired',
      text: `select w.id, extract(epoch from clock_timestamp() - r.created_at)::float8 * 1000 - w.duration_ms as ms
               from unnest($1::bigint[], $2::text[]) as asked (tenant_id, id)
               join watchdogs w using (tenant_id, id)
               join rooms r on r.tenant_id = w.tenant_id and r.uid = w.room_uid
              where w.state = 'fired'`,
      values: [[...waiting.values()], [...waiting.keys()]],
    });
    for (const { id, ms } of rows) {
      waiting.delete(id);
      lateMs.push(ms);
    }
    await sleep(ASK_EVERY_MS);
  }
  return lateMs;
}
