import pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import type { Room } from '../../src/control/rooms/room.ts';
import { appendNumberedEvents } from '../../src/events/append-events.sql.ts';
import { EventWaker } from '../../src/events/event-waker.ts';
import { useDatabase } from '../support/database.ts';
import { openHolder } from '../support/holder.ts';
import { makeTenant, makeTenants } from '../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
const LOG = pino({ level: 'silent' });
const NEVER = new AbortController().signal;
const LONG_MS = 20_000;
let waker: EventWaker;
let others: EventWaker[] = [];

beforeEach(() => {
  waker = new EventWaker(database.pool, LOG);
});
afterEach(async () => {
  await Promise.all([waker, ...others].map((each) => each.close()));
  others = [];
  // The next test must not take a listener that is leaving for its own.
  await untilListening(0);
});

/** The waker of another process. */
function another(db: Pool = database.pool): EventWaker {
  const other = new EventWaker(db, LOG);
  others.push(other);
  return other;
}

async function appendEvent(tenant: TenantId): Promise<void> {
  const subject = { name: 'lobby' } as Room;
  const tx = await database.pool.connect();
  await tx.query('begin');
  await appendNumberedEvents(tx, tenant, [{ roomUid: null, type: 'room_created', subject }]);
  await tx.query('commit');
  tx.release();
}

async function appendUnnumbered(tenant: TenantId): Promise<void> {
  await database.pool.query(
    `insert into unnumbered_events (tenant_id, type, subject) values ($1, 'participant_entered', '{}')`,
    [tenant],
  );
}

/** Server processes that listen for notifications. One that is not idle yet may still miss one. */
async function listeners(): Promise<number[]> {
  const { rows } = await database.pool.query(
    `select pid from pg_stat_activity where datname = current_database() and query = 'listen boxoffice_events' and state = 'idle'`,
  );
  return rows.map(({ pid }) => pid);
}

const untilListening = (count: number) =>
  vi.waitFor(async () => expect(await listeners()).toHaveLength(count), { timeout: 60_000 });

describe('wait', () => {
  test('returns at once if there are newer events', async () => {
    const tenant = await makeTenant(database.pool);
    await appendEvent(tenant);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(1n);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(1n);
  });

  test('returns after an event in this process or in another one', async () => {
    const tenant = await makeTenant(database.pool);
    for (const [at, each] of [waker, another()].entries()) {
      const waiting = waker.wait(tenant, BigInt(at), NEVER, LONG_MS);
      await untilListening(1);
      await appendEvent(tenant);
      each.wake(tenant);
      expect(await waiting).toBe(BigInt(at + 1));
    }
  });

  test('an event of another tenant wakes no waiter', async () => {
    const [tenant, other] = [await makeTenant(database.pool), await makeTenant(database.pool)];
    const waiting = waker.wait(tenant, 0n, NEVER, 300);
    await appendEvent(other);
    waker.wake(other);
    expect(await waiting).toBe(0n);
  });

  test('returns after the timeout, and when aborted', async () => {
    const tenant = await makeTenant(database.pool);
    expect(await waker.wait(tenant, 0n, NEVER, 10)).toBe(0n);
    const gone = new AbortController();
    const waiting = waker.wait(tenant, 0n, gone.signal, LONG_MS);
    gone.abort();
    expect(await waiting).toBe(0n);
    expect(await waker.wait(tenant, 0n, gone.signal, LONG_MS)).toBe(0n);
  });

  test('returns when the waker is closed, which ends its connection', async () => {
    const tenant = await makeTenant(database.pool);
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    await waker.close();
    expect(await waiting).toBe(0n);
    await untilListening(0);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(0n);
  });

  test('an event between two waits is not missed', async () => {
    const tenant = await makeTenant(database.pool);
    // Waits while the connection is opened, because an idle waker closes it.
    const gone = new AbortController();
    const waiting = waker.wait(tenant, 0n, gone.signal, LONG_MS);
    await untilListening(1);
    gone.abort();
    await waiting;
    for (let seq = 1n; seq <= 20n; seq += 1n) {
      await appendEvent(tenant);
      waker.wake(tenant);
      expect(await waker.wait(tenant, seq - 1n, NEVER, LONG_MS)).toBe(seq);
    }
  });
});

describe('a connection to listen', () => {
  test('is open while there is a waiter', async () => {
    const tenant = await makeTenant(database.pool);
    // PostgreSQL may not have noticed yet that the previous test closed its connection.
    await untilListening(0);
    waker.wake(tenant);
    expect(await listeners()).toStrictEqual([]);
    const gone = new AbortController();
    const waiting = waker.wait(tenant, 0n, gone.signal, LONG_MS);
    await untilListening(1);
    gone.abort();
    await waiting;
    await untilListening(0);
  });

  test('is reopened when it is lost, and events still arrive', async () => {
    const tenant = await makeTenant(database.pool);
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    const [pid] = await listeners();
    await appendEvent(tenant);
    await database.pool.query('select pg_terminate_backend($1::integer)', [pid]);
    expect(await waiting).toBe(1n);
    const again = waker.wait(tenant, 1n, NEVER, LONG_MS);
    await vi.waitFor(
      async () => expect(await listeners()).toEqual([expect.not.toSatisfy((it) => it === pid)]),
      {
        timeout: 60_000,
      },
    );
    await appendEvent(tenant);
    waker.wake(tenant);
    expect(await again).toBe(2n);
  });

  test('without notifications, events arrive within about a second', async () => {
    const tenant = await makeTenant(database.pool);
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    const begun = performance.now();
    await appendEvent(tenant);
    expect(await waiting).toBe(1n);
    expect(performance.now() - begun).toBeLessThan(LONG_MS / 2);
  });
});

describe('wake', () => {
  test('sends few notifications for many tenants', async () => {
    const listener = new pg.Client(database.url);
    const payloads: string[] = [];
    listener.on('notification', ({ payload }) => payloads.push(payload!));
    await listener.connect();
    await listener.query('listen boxoffice_events');
    const woken = await makeTenants(database.pool, 200);
    for (const tenant of woken) await appendEvent(tenant);
    for (let round = 0; round < 50; round += 1) for (const tenant of woken) waker.wake(tenant);
    await waker.close();
    await listener.query('select 1');
    await listener.end();
    const entries = payloads.flatMap((payload) => payload.split(',')).toSorted();
    expect(new Set(entries)).toStrictEqual(new Set(woken.map((tenant) => `${tenant} 1`)));
    expect(payloads.length).toBeLessThanOrEqual(6);
    expect(Math.max(...payloads.map((payload) => payload.length))).toBeLessThan(8_000);
  });

  test('a tenant whose stream is locked delays no other, and is notified later', async () => {
    const [locked, free] = [await makeTenant(database.pool), await makeTenant(database.pool)];
    const other = another();
    for (const tenant of [locked, free]) await appendEvent(tenant);
    const holder = await openHolder(database.pool);
    await holder.query('select from event_streams where tenant_id = $1 for update', [locked]);
    const patient = other.wait(locked, 1n, NEVER, LONG_MS);
    await untilListening(1);
    for (let seq = 1n; seq <= 5n; seq += 1n) {
      for (const tenant of [locked, free]) await appendUnnumbered(tenant);
      const begun = performance.now();
      waker.wake(locked);
      waker.wake(free);
      expect(await other.wait(free, seq, NEVER, LONG_MS)).toBe(seq + 1n);
      // Waiting for the lock would take eight seconds.
      expect(performance.now() - begun).toBeLessThan(7_500);
    }
    await holder.release();
    expect(await patient).toBe(6n);
  });

  test('a tenant whose events cannot be numbered delays no other', async () => {
    const [broken, free] = [await makeTenant(database.pool), await makeTenant(database.pool)];
    const waiting = another().wait(free, 0n, NEVER, LONG_MS);
    await untilListening(1);
    await appendEvent(broken);
    // Its next number is taken.
    await database.pool.query('update event_streams set last_seq = 0 where tenant_id = $1', [broken]);
    for (const tenant of [broken, free]) await appendUnnumbered(tenant);
    waker.wake(broken);
    waker.wake(free);
    expect(await waiting).toBe(1n);
  });

  test('without a database, no waiter fails', async () => {
    const away = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' });
    const lonely = another(away);
    lonely.wake(await makeTenant(database.pool));
    expect(await lonely.wait(await makeTenant(database.pool), 0n, NEVER, 50)).toBe(0n);
    await lonely.close();
    await away.end();
  });
});

test('an invalid notification does no harm', async () => {
  const tenant = await makeTenant(database.pool);
  const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
  await untilListening(1);
  for (const payload of ['', 'nonsense', `${tenant}`, 'a 1,b', `${tenant} -1`]) {
    await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', payload]);
  }
  await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', `x,${tenant} 7`]);
  expect(await waiting).toBe(7n);
});

test('a notified event that does not exist is forgotten', async () => {
  const tenant = await makeTenant(database.pool);
  await appendEvent(tenant);
  const waiting = waker.wait(tenant, 1n, NEVER, LONG_MS);
  await untilListening(1);
  await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', `${tenant} 7`]);
  expect(await waiting).toBe(7n);
  await vi.waitFor(async () => expect(await waker.wait(tenant, 1n, NEVER, 10)).toBe(1n), { timeout: 60_000 });
});
