/** Compares the deadlines that SQL computes with a small model of the contract. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { WATCHDOG_CONDITIONS, type WatchdogCondition } from '../../../src/control/watchdogs/watchdog.ts';
import { findWatchdog, insertWatchdog } from '../../../src/control/watchdogs/watchdogs.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const DURATION_MS = 60_000;
const ROOM = 'rm_model';
let tenant: TenantId;

/** All times are in milliseconds from now. */
interface Person {
  readonly role: 'host' | 'audience';
  readonly entered: number;
  readonly expires: number;
  readonly left: number | null;
  readonly lastSeen: number | null;
  readonly admitted: readonly number[];
}

interface History {
  readonly created: number;
  readonly people: readonly Person[];
  readonly status: 'active' | 'suspended';
  readonly exempt: boolean;
  readonly heldSince: number | null;
  readonly firedFor: number | null;
  readonly warnBeforeMs: number;
  readonly warned: number | null;
}

const person: fc.Arbitrary<Person> = fc.record({
  role: fc.constantFrom('host', 'audience'),
  entered: fc.integer({ min: -90_000, max: 0 }),
  expires: fc.integer({ min: -80_000, max: 80_000 }),
  left: fc.option(fc.integer({ min: -80_000, max: 0 })),
  lastSeen: fc.option(fc.integer({ min: -90_000, max: 0 })),
  admitted: fc.array(fc.integer({ min: -90_000, max: 0 }), { maxLength: 2 }),
});

const history: fc.Arbitrary<History> = fc.record({
  created: fc.integer({ min: -100_000, max: 0 }),
  people: fc.array(person, { maxLength: 4 }),
  status: fc.constantFrom('active', 'suspended'),
  exempt: fc.boolean(),
  heldSince: fc.option(fc.integer({ min: -90_000, max: 0 })),
  firedFor: fc.option(fc.integer({ min: -90_000, max: 0 })),
  warnBeforeMs: fc.constantFrom(0, 20_000),
  warned: fc.option(fc.integer({ min: -90_000, max: 0 })),
});

const until = ({ left, expires }: Person) => left ?? expires;
const isPresent = ({ left, expires }: Person) => left === null && expires > 0;

/** Since when each condition holds, or when it will begin to hold; `null`: never. */
const SINCE: Readonly<Record<WatchdogCondition, (history: History) => number | null>> = {
  max_duration: ({ created }) => created,
  unused_for: ({ created, people }) => (people.length === 0 ? created : null),
  empty_for: ({ people }) => (people.length > 0 ? Math.max(...people.map(until)) : null),
  host_absent_for: ({ created, people }) => {
    const hosts = people.filter(({ role }) => role === 'host');
    const signs = hosts.map((host) =>
      host.lastSeen === null
        ? until(host)
        : Math.min(until(host), Math.max(host.entered, host.lastSeen, ...host.admitted)),
    );
    return signs.length > 0 ? Math.max(...signs) : created;
  },
  alone_for: ({ people }) => {
    const [longest, next] = people.toSorted((a, b) => until(b) - until(a));
    return longest && isPresent(longest) ? Math.max(longest.entered, next ? until(next) : -Infinity) : null;
  },
  participant_max_duration: ({ people, firedFor }) => {
    const counted = people.filter((each) => isPresent(each) && each.entered > (firedFor ?? -Infinity));
    return counted.length > 0 ? Math.min(...counted.map(({ entered }) => entered)) : null;
  },
  unadmitted_for: ({ status, exempt, heldSince }) =>
    exempt && status === 'active' ? null : (heldSince ?? 0),
};

/** `null` while the condition does not hold. */
function deadlineOf(condition: WatchdogCondition, history: History): number | null {
  const since = SINCE[condition](history);
  if (since === null || since > 0) return null;
  const due = since + DURATION_MS;
  const { warnBeforeMs } = history;
  return warnBeforeMs > 0 ? Math.max(due, (history.warned ?? 0) + warnBeforeMs) : due;
}

beforeAll(async () => {
  tenant = await makeTenant(database.pool, { status: 'active' });
});

/**
 * Rolls back everything that `work` does. Database time does not pass within a transaction: `now` is that of the server
 * that has the tenant.
 */
async function inVain<T>(work: (tx: Tx, now: Date) => Promise<T>): Promise<T> {
  const tx = await database.pool.connect();
  try {
    await tx.query('begin');
    const { rows } = await tx.query<{ now: Date }>('select now() from accounts where tenant_id = $1', [
      tenant,
    ]);
    return await work(tx, rows[0]!.now);
  } finally {
    await tx.query('rollback');
    tx.release();
  }
}

async function write(tx: Tx, now: Date, history: History): Promise<void> {
  const time = (ms: number | null) => (ms === null ? null : new Date(now.getTime() + ms));
  await tx.query('update tenants set status = $2, exempt = $3 where id = $1', [
    tenant,
    history.status,
    history.exempt,
  ]);
  await tx.query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy, created_at) values ($1, $2, 'model', 1, '{}', $3)`,
    [tenant, ROOM, time(history.created)],
  );
  for (const [index, each] of history.people.entries()) {
    await tx.query(
      `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, entered_at,
                                 last_seen_at, expires_at, left_at, leave_reason)
       values ($1, $2, $3, $3, $4, 0, '{}', $5, $6, $7, $8, $9)`,
      [
        tenant,
        ROOM,
        `user-${index}`,
        each.role,
        time(each.entered),
        time(each.lastSeen),
        time(each.expires),
        time(each.left),
        each.left === null ? null : 'kicked',
      ],
    );
    for (const [device, admitted] of each.admitted.entries()) {
      await tx.query(
        `insert into admissions
           (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, admitted_at, expires_at)
         values ($1, $2, $3, $4, 'audience', 20, '{}', 'key', $5, $6)`,
        [tenant, ROOM, `user-${index}`, `device-${device}`, time(admitted), time(each.expires)],
      );
    }
  }
}

describe('the deadline', () => {
  test('matches the model for any history of the room', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (history) => {
        await inVain(async (tx, now) => {
          await write(tx, now, history);
          for (const condition of WATCHDOG_CONDITIONS) {
            const { warnBeforeMs } = history;
            const rule = { condition, durationMs: DURATION_MS, action: 'notify', warnBeforeMs } as const;
            const { id } = (await insertWatchdog(tx, tenant, ROOM, rule))!;
            const warned = warnBeforeMs > 0 ? history.warned : null;
            await tx.query(
              `update watchdogs
                  set check_at = $5::timestamptz,
                      held_since = $5::timestamptz + $2 * interval '1 millisecond',
                      fired_for = $5::timestamptz + $3 * interval '1 millisecond',
                      state = case when $4::integer is null then 'armed' else 'warned' end,
                      warned_at = $5::timestamptz + $4 * interval '1 millisecond'
                where id = $1`,
              [id, history.heldSince, history.firedFor, warned, now],
            );
            const { deadline } = (await findWatchdog(tx, tenant, id))!;
            const found = deadline && deadline.getTime() - now.getTime();
            const model = deadlineOf(condition, history);
            // A cluster has several clocks: that of the coordinator fills in when a watchdog was created.
            const expected = model === null || !isDistributed() ? model : expect.closeTo(model, -3);
            expect({ condition, deadline: found }).toStrictEqual({ condition, deadline: expected });
          }
        });
      }),
      { numRuns: 150 },
    );
  });

  test.each(['fired', 'disarmed'])('is null for a watchdog that is %s', async (state) => {
    await inVain(async (tx, now) => {
      await write(tx, now, {
        created: 0,
        people: [],
        status: 'active',
        exempt: false,
        heldSince: null,
        firedFor: null,
        warnBeforeMs: 0,
        warned: null,
      });
      const rule = {
        condition: 'max_duration',
        durationMs: DURATION_MS,
        action: 'notify',
        warnBeforeMs: 0,
      } as const;
      const { id, deadline } = (await insertWatchdog(tx, tenant, ROOM, rule))!;
      expect(deadline).toStrictEqual(new Date(now.getTime() + DURATION_MS));
      await tx.query('update watchdogs set state = $2, check_at = null, fired_at = now() where id = $1', [
        id,
        state,
      ]);
      expect(await findWatchdog(tx, tenant, id)).toMatchObject({ state, deadline: null });
    });
  });
});
