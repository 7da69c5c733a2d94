/** Rules of watchdogs: each fires once, when it is due, and says so. */
import { type Row, tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import { faultTimes } from '../faults.ts';
import type { Look, Rule } from '../rule.ts';

export const WATCHDOG_RULES: readonly Rule[] = [
  { name: 'a watchdog fires once', check: checkFired },
  { name: 'a watchdog fires when it is due, and not before', check: checkDue },
  { name: 'a watchdog that was set is there once', check: checkSet },
];

/** It fires for each participant, and is over with the room. */
const FOR_EACH = 'participant_max_duration';

async function checkFired(facts: Facts, look: Look): Promise<void> {
  const logs = await facts.logs;
  const fired = new Map<string | undefined, number>();
  for (const { type, subject } of [...logs.values()].flat())
    if (type === 'watchdog_fired') fired.set(subject.id, (fired.get(subject.id) ?? 0) + 1);
  const rows = await facts.db.rows(
    `select id, ${tenantOf('tenant_id')} as tenant, condition, state from watchdogs
      where ${tenantOf('tenant_id')} = any ($1)`,
    [[...facts.tenants]],
  );
  for (const { id, tenant, condition, state } of rows) {
    const times = fired.get(id!) ?? 0;
    fired.delete(id!);
    if (condition === FOR_EACH) continue;
    look.at();
    if (times !== (state === 'fired' ? 1 : 0))
      look.wrong(`${id} of ${tenant} is ${state}, and has told ${times} times that it fired`);
  }
  for (const id of fired.keys()) look.wrong(`${id} fired, and is not there`);
}

/** So late one may be where nothing is wrong, on a machine that has much else to do. */
const LATE_SECONDS_MAX = 60;
/** What stands still keeps one from firing, and what comes right after it again. */
const FAULTS_IN_A_ROW = 2;
/** Times of rows have microseconds, and durations milliseconds. */
const EARLY_SECONDS_MAX = 0.01;

/** Seconds since 1970 by the clock of PostgreSQL, which decides when one is due, right or wrong. */
const SECONDS = (column: string) => `extract(epoch from ${column})::float8`;

/** A clock that is put back while it fires makes the event look early, and not what the look compared. */
const FIRED_AT = 'case when f.at is not null then greatest(f.at, w.looked_at) end';

/**
 * Those that the load sets count from the creation of the room, as long as was asked for, whatever is stored of that. One that was set
 * later is due at once.
 */
async function checkDue(facts: Facts, look: Look): Promise<void> {
  const rows = await facts.db.rows(
    `select w.id, w.state, w.action, r.state as room, ${SECONDS('r.created_at')} as room_at, ${SECONDS('w.created_at')} as set_at,
            ${SECONDS('r.ended_at')} as ended_at, ${SECONDS('now()')} as now,
            ${SECONDS(FIRED_AT)} as fired_at
       from watchdogs w join rooms r on r.tenant_id = w.tenant_id and r.uid = w.room_uid
       left join (select tenant_id, subject->>'id' as id, min(at) as at from events
                   where type = 'watchdog_fired' group by 1, 2) f on f.tenant_id = w.tenant_id and f.id = w.id
      where ${tenantOf('w.tenant_id')} = any ($1) and w.condition = 'max_duration'`,
    [[...facts.tenants]],
  );
  const longestUs = faultTimes(facts).reduce(
    (most, { fromUs, untilUs }) => Math.max(most, untilUs - fromUs),
    0,
  );
  const lateMax = LATE_SECONDS_MAX + (FAULTS_IN_A_ROW * longestUs) / 1_000_000;
  // A campaign that was kept may be judged long afterwards.
  const settledAt = facts.of('settled')[0]?.args.at;
  const restAt = settledAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(settledAt) / 1_000;
  const byId = new Map(rows.map((row) => [row.id!, row]));
  const seen = new Set<string>();
  for (const { args, answer } of facts.of('watchdog.set')) {
    const id = answer?.watchdog?.id ?? '';
    const row = byId.get(id);
    if (!row || seen.has(id) || args.seconds === undefined) continue;
    seen.add(id);
    const fault = findFaultOf(row, args.seconds, { lateMax, restAt });
    look.at();
    if (fault) look.wrong(`${id} of ${args.tenant} ${fault}`);
  }
}

interface Bounds {
  readonly lateMax: number;
  /** Nothing went on any more. */
  readonly restAt: number;
}

function findFaultOf(row: Row, seconds: number, { lateMax, restAt }: Bounds): string | undefined {
  const [firedAt, endedAt] = [row.fired_at, row.ended_at].map((at) => (at ? Number(at) : undefined));
  const earliest = Number(row.room_at) + seconds;
  const dueAt = Math.max(earliest, Number(row.set_at));
  if (firedAt === undefined) {
    if (endedAt === undefined && row.state === 'disarmed') return 'is disarmed, and its room has not ended';
    const late = (endedAt ?? Math.min(restAt, Number(row.now))) - dueAt;
    const when = endedAt === undefined ? 'the end' : 'its room ended';
    return late > lateMax ? `was due ${late.toFixed()} s before ${when}` : undefined;
  }
  if (firedAt < earliest - EARLY_SECONDS_MAX) return `fired ${(earliest - firedAt).toFixed(1)} s early`;
  if (firedAt > dueAt + lateMax) return `fired ${(firedAt - dueAt).toFixed()} s late`;
  if (row.action === 'end_room' && row.room === 'LIVE') return 'fired, and its room has not ended';
  return undefined;
}

/** Calls that were repeated with one idempotency key made one watchdog. */
async function checkSet(facts: Facts, look: Look): Promise<void> {
  const set = facts.of('watchdog.set').filter(({ outcome }) => outcome !== 'refused');
  for (const [key, entries] of Map.groupBy(set, ({ args }) => `${args.tenant} ${args.idempotency}`)) {
    const ids = new Set(entries.flatMap(({ answer }) => answer?.watchdog?.id ?? []));
    look.at();
    if (ids.size > 1) look.wrong(`${key} made ${[...ids].join(' and ')}`);
  }
  const rows = await facts.db.rows(
    `select ${tenantOf('w.tenant_id')} as tenant, r.name as room, count(*) as count
       from watchdogs w join rooms r on r.tenant_id = w.tenant_id and r.uid = w.room_uid
      where ${tenantOf('w.tenant_id')} = any ($1) group by 1, 2`,
    [[...facts.tenants]],
  );
  const asked = Map.groupBy(set, ({ args }) => JSON.stringify([args.tenant, args.room]));
  for (const { tenant, room, count } of rows) {
    const keys = new Set(
      (asked.get(JSON.stringify([tenant, room])) ?? []).map(({ args }) => args.idempotency),
    );
    look.at();
    if (Number(count) > keys.size)
      look.wrong(`${room} of ${tenant} has ${count} watchdogs, of which ${keys.size} were asked for`);
  }
}
