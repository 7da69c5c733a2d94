import pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import type { Room } from '../../src/control/rooms/room.ts';
import { appendNumberedEvents } from '../../src/events/append-events.sql.ts';
import { EventWaker } from '../../src/events/event-waker.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
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
});

/** Another process. */
function another(db: Pool = database.pool): EventWaker {
  const other = new EventWaker(db, LOG);
  others.push(other);
  return other;
}

let tenants = 0n;

async function newTenant(): Promise<TenantId> {
  tenants += 1n;
  const tenant = tenants as TenantId;
  await database.pool.query(
    `insert into tenants (id, name, email, status) values ($1, 'a', 'a@b.c', 'active')`,
    [tenant],
  );
  return tenant;
}

async function happen(tenant: TenantId): Promise<void> {
  const subject = { name: 'lobby' } as Room;
  const tx = await database.pool.connect();
  await tx.query('begin');
  await appendNumberedEvents(tx, tenant, [{ roomUid: null, type: 'room_created', subject }]);
  await tx.query('commit');
  tx.release();
}

/** As newcomers do: without a number. */
async function comeIn(tenant: TenantId): Promise<void> {
  await database.pool.query(
    `insert into unnumbered_events (tenant_id, type, subject) values ($1, 'participant_entered', '{}')`,
    [tenant],
  );
}

/** Processes of the server that wait for notifications. */
async function listeners(): Promise<number[]> {
  const { rows } = await database.pool.query(
    `select pid from pg_stat_activity where datname = current_database() and query = 'listen boxoffice_events'`,
  );
  return rows.map(({ pid }) => pid);
}

const untilListening = (count: number) =>
  vi.waitFor(async () => expect(await listeners()).toHaveLength(count), { timeout: 10_000 });

describe('wait', () => {
  test('returns at once where more has happened', async () => {
    const tenant = await newTenant();
    await happen(tenant);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(1n);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(1n);
  });

  test('returns when something happens in this process or in another one', async () => {
    const tenant = await newTenant();
    for (const [at, each] of [waker, another()].entries()) {
      const waiting = waker.wait(tenant, BigInt(at), NEVER, LONG_MS);
      await untilListening(1);
      await happen(tenant);
      each.wake(tenant);
      expect(await waiting).toBe(BigInt(at + 1));
    }
  });

  test('what happens to another tenant wakes nobody', async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const waiting = waker.wait(tenant, 0n, NEVER, 300);
    await happen(other);
    waker.wake(other);
    expect(await waiting).toBe(0n);
  });

  test('returns when it has taken too long, and when it is aborted', async () => {
    const tenant = await newTenant();
    expect(await waker.wait(tenant, 0n, NEVER, 10)).toBe(0n);
    const gone = new AbortController();
    const waiting = waker.wait(tenant, 0n, gone.signal, LONG_MS);
    gone.abort();
    expect(await waiting).toBe(0n);
    expect(await waker.wait(tenant, 0n, gone.signal, LONG_MS)).toBe(0n);
  });

  test('returns when the waker is closed, which ends its connection', async () => {
    const tenant = await newTenant();
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    await waker.close();
    expect(await waiting).toBe(0n);
    await untilListening(0);
    expect(await waker.wait(tenant, 0n, NEVER, LONG_MS)).toBe(0n);
  });

  test('what happens between two waits is not slept through', async () => {
    const tenant = await newTenant();
    await waker.wait(tenant, 0n, NEVER, 50);
    await untilListening(1);
    for (let seq = 1n; seq <= 20n; seq += 1n) {
      await happen(tenant);
      waker.wake(tenant);
      expect(await waker.wait(tenant, seq - 1n, NEVER, LONG_MS)).toBe(seq);
    }
  });
});

describe('a connection to listen', () => {
  test('is there while somebody waits', async () => {
    const tenant = await newTenant();
    // PostgreSQL may not have seen yet that the connection of the test before is closed.
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

  test('is opened again when it is lost; events arrive all the same', async () => {
    const tenant = await newTenant();
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    const [pid] = await listeners();
    await happen(tenant);
    await database.pool.query('select pg_terminate_backend($1)', [pid]);
    expect(await waiting).toBe(1n);
    const again = waker.wait(tenant, 1n, NEVER, LONG_MS);
    await vi.waitFor(
      async () => expect(await listeners()).toEqual([expect.not.toSatisfy((it) => it === pid)]),
      {
        timeout: 10_000,
      },
    );
    await happen(tenant);
    waker.wake(tenant);
    expect(await again).toBe(2n);
  });

  test('without notifications everything arrives within about a second', async () => {
    const tenant = await newTenant();
    const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
    await untilListening(1);
    const begun = performance.now();
    await happen(tenant);
    expect(await waiting).toBe(1n);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe('wake', () => {
  test('many are told in few notifications, for several tenants at once', async () => {
    const listener = new pg.Client(database.url);
    const payloads: string[] = [];
    listener.on('notification', ({ payload }) => payloads.push(payload!));
    await listener.connect();
    await listener.query('listen boxoffice_events');
    const woken = await Promise.all(Array.from({ length: 200 }, newTenant));
    for (const tenant of woken) await happen(tenant);
    for (let round = 0; round < 50; round += 1) for (const tenant of woken) waker.wake(tenant);
    await waker.close();
    await listener.query('select 1');
    await listener.end();
    const told = payloads.flatMap((payload) => payload.split(',')).toSorted();
    expect(new Set(told)).toStrictEqual(new Set(woken.map((tenant) => `${tenant} 1`)));
    expect(payloads.length).toBeLessThanOrEqual(6);
    expect(Math.max(...payloads.map((payload) => payload.length))).toBeLessThan(8_000);
  });

  test('a tenant whose stream is locked holds up no other, and is heard of later', async () => {
    const [locked, free] = [await newTenant(), await newTenant()];
    const other = another();
    for (const tenant of [locked, free]) await happen(tenant);
    const holder = await database.pool.connect();
    await holder.query('begin');
    await holder.query('select from event_streams where tenant_id = $1 for update', [locked]);
    const patient = other.wait(locked, 1n, NEVER, LONG_MS);
    await untilListening(1);
    for (let seq = 1n; seq <= 5n; seq += 1n) {
      for (const tenant of [locked, free]) await comeIn(tenant);
      const begun = performance.now();
      waker.wake(locked);
      waker.wake(free);
      expect(await other.wait(free, seq, NEVER, LONG_MS)).toBe(seq + 1n);
      expect(performance.now() - begun).toBeLessThan(4_000);
    }
    await holder.query('rollback');
    holder.release();
    expect(await patient).toBe(6n);
  });

  test('a tenant whose events cannot be numbered holds up no other', async () => {
    const [broken, free] = [await newTenant(), await newTenant()];
    const other = another();
    await other.wait(free, 0n, NEVER, 50);
    await untilListening(1);
    await happen(broken);
    // Its next event would have a number that is taken.
    await database.pool.query('update event_streams set last_seq = 0 where tenant_id = $1', [broken]);
    for (const tenant of [broken, free]) await comeIn(tenant);
    waker.wake(broken);
    waker.wake(free);
    expect(await other.wait(free, 0n, NEVER, LONG_MS)).toBe(1n);
  });

  test('without a database it fails nobody', async () => {
    const away = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' });
    const lonely = another(away);
    lonely.wake(await newTenant());
    expect(await lonely.wait(await newTenant(), 0n, NEVER, 50)).toBe(0n);
    await lonely.close();
    await away.end();
  });
});

test('a notification that says nothing does no harm', async () => {
  const tenant = await newTenant();
  const waiting = waker.wait(tenant, 0n, NEVER, LONG_MS);
  await untilListening(1);
  for (const payload of ['', 'nonsense', `${tenant}`, 'a 1,b', `${tenant} -1`]) {
    await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', payload]);
  }
  await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', `x,${tenant} 7`]);
  expect(await waiting).toBe(7n);
});

test('what was heard of and is not there any more is forgotten', async () => {
  const tenant = await newTenant();
  await happen(tenant);
  const waiting = waker.wait(tenant, 1n, NEVER, LONG_MS);
  await untilListening(1);
  await database.pool.query('select pg_notify($1, $2)', ['boxoffice_events', `${tenant} 7`]);
  expect(await waiting).toBe(7n);
  await vi.waitFor(async () => expect(await waker.wait(tenant, 1n, NEVER, 10)).toBe(1n), { timeout: 5_000 });
});
