/** Rules of watchdogs: each fires once, and says so. */
import { tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import type { Look, Rule } from '../rule.ts';

export const WATCHDOG_RULES: readonly Rule[] = [
  { name: 'a watchdog fires once', check: checkFired },
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
