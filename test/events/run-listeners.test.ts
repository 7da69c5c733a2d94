import pino from 'pino';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { BaseDeps } from '../../src/base/deps.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { retryAfterSeconds } from '../../src/base/tenants/turn-backoff.ts';
import { type Metrics, makeMetrics } from '../../src/doors/metrics.ts';
import { appendEvents } from '../../src/events/append-events.sql.ts';
import type { LoggedEvent, NewEvent } from '../../src/events/event.ts';
import type { Listener } from '../../src/events/listener.ts';
import { numberEvents } from '../../src/events/number-events.ts';
import { ListenerTurns, measureLags, takeTurns } from '../../src/events/run-listeners.ts';
import { listLags, upsertListener } from '../../src/events/turns.sql.ts';
import { moved } from '../support/append-only.ts';
import { useDatabase } from '../support/database.ts';
import { makeTenant } from '../support/tenants.ts';

const database = useDatabase();
let deps: BaseDeps & { readonly metrics: Metrics };
let lines: string[];

beforeEach(async () => {
  lines = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  deps = { db: database.pool, log, metrics: makeMetrics() };
  await database.pool.query(
    'delete from event_listeners; delete from event_turns; delete from event_cursors',
  );
});

const event = (type: string, n = 0): NewEvent => ({ type, roomUid: null, subject: { n } });

/** Append, commit and number, as an operation and its wake-up do. */
async function happen(tenant: TenantId, ...types: string[]): Promise<void> {
  await inTransaction(deps.db, (tx) =>
    appendEvents(
      tx,
      tenant,
      types.map((type, n) => event(type, n)),
    ),
  );
  await numberEvents(deps.db, [tenant]);
}

interface Heard {
  readonly tenant: TenantId;
  readonly types: readonly string[];
}

/** A listener that notes what it hears; `failing` decides whether a turn fails. */
async function listening(
  name: string,
  types: readonly string[],
  failing: (tenant: TenantId) => boolean = () => false,
): Promise<{ listener: Listener; heard: Heard[] }> {
  const heard: Heard[] = [];
  const listener: Listener = {
    name,
    types,
    handle: async (_tx, tenant, events: readonly LoggedEvent[]) => {
      if (failing(tenant)) throw new Error('not today');
      heard.push({ tenant, types: events.map(({ type }) => type) });
    },
  };
  await upsertListener(deps.db, listener);
  return { listener, heard };
}

const retryNow = () => deps.db.query('update event_cursors set retry_at = now() where retry_at is not null');

describe('a listener', () => {
  test('that fails for a tenant is put off for that tenant, and no other listener is', async () => {
    const [unlucky, other] = [await makeTenant(deps.db), await makeTenant(deps.db)];
    const one = await listening('one', ['a'], (tenant) => tenant === unlucky);
    const two = await listening('two', ['a']);
    for (const tenant of [unlucky, other]) await happen(tenant, 'a');
    for (const { listener } of [two, one]) await takeTurns(deps, listener);
    const { rows } = await deps.db.query(
      `select listener, tenant_id as tenant, failures, retry_at is not null as "isPutOff" from event_cursors
        order by listener, failures`,
    );
    const lucky = { failures: 0, isPutOff: false };
    expect(rows).toStrictEqual([
      { listener: 'one', tenant: other, ...lucky },
      { listener: 'one', tenant: unlucky, failures: 1, isPutOff: true },
      { listener: 'two', tenant: expect.anything(), ...lucky },
      { listener: 'two', tenant: expect.anything(), ...lucky },
    ]);
  });

  test('lags by the events that came after its last turn', async () => {
    const tenant = await makeTenant(deps.db);
    const { listener } = await listening('one', ['a']);
    await happen(tenant, 'a', 'a');
    await takeTurns(deps, listener);
    await happen(tenant, 'a', 'a', 'a');
    expect(await listLags(deps.db)).toMatchObject([{ listener: 'one', events: 3 }]);
  });

  test('hears the types that it wants, once and in order', async () => {
    const tenant = await makeTenant(deps.db);
    const { listener, heard } = await listening('one', ['a', 'b']);
    await happen(tenant, 'a', 'x', 'b');
    await happen(tenant, 'x');
    await takeTurns(deps, listener);
    await happen(tenant, 'a');
    await takeTurns(deps, listener);
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([
      { tenant, types: ['a', 'b'] },
      { tenant, types: ['a'] },
    ]);
  });

  test('hears nothing that happened before it was registered', async () => {
    const tenant = await makeTenant(deps.db);
    await happen(tenant, 'a', 'a');
    const { listener, heard } = await listening('late', ['a']);
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([]);
    await happen(tenant, 'a');
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([{ tenant, types: ['a'] }]);
  });

  test('hears more events than one turn holds', async () => {
    const tenant = await makeTenant(deps.db);
    const { listener, heard } = await listening('long', ['a']);
    await happen(tenant, ...Array.from({ length: 1_200 }, () => 'a'));
    await takeTurns(deps, listener);
    expect(heard.map(({ types }) => types.length)).toStrictEqual([500, 500, 200]);
  });

  test('of several processes, each turn is taken by one', async () => {
    const tenants = await Promise.all(Array.from({ length: 20 }, () => makeTenant(deps.db)));
    const { listener, heard } = await listening('shared', ['a']);
    await Promise.all(tenants.map((tenant) => happen(tenant, 'a', 'a')));
    await Promise.all(Array.from({ length: 4 }, () => takeTurns(deps, listener)));
    expect(heard.map(({ tenant }) => tenant).sort()).toStrictEqual(tenants.toSorted());
  });

  test('whose work is undone hears the same events again, and its cursor has not moved', async () => {
    const tenant = await makeTenant(deps.db);
    let fails = true;
    const { listener, heard } = await listening('unlucky', ['a'], () => fails);
    await happen(tenant, 'a');
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([]);
    // Not before its time.
    fails = false;
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([]);
    await retryNow();
    await takeTurns(deps, listener);
    expect(heard).toStrictEqual([{ tenant, types: ['a'] }]);
  });

  test('that fails with one tenant delays no other tenant and no other listener', async () => {
    const [poor, rich] = [await makeTenant(deps.db), await makeTenant(deps.db)];
    const failing = await listening('failing', ['a'], (tenant) => tenant === poor);
    const other = await listening('other', ['a']);
    await happen(poor, 'a');
    await happen(rich, 'a');
    await takeTurns(deps, failing.listener);
    await takeTurns(deps, other.listener);
    expect(failing.heard).toStrictEqual([{ tenant: rich, types: ['a'] }]);
    expect(other.heard).toHaveLength(2);
    expect(lines.join('')).toContain('a listener failed');

    await deps.db.query(`update event_turns set at = ${moved('at', '-1 minute')}`);
    expect(await listLags(deps.db)).toMatchObject([
      { listener: 'failing', events: 1, seconds: expect.closeTo(60, -1) },
      { listener: 'other', events: 0, seconds: 0 },
    ]);
    await measureLags(deps);
    const { values } = await deps.metrics.listenerLagSeconds.get();
    expect(values.find(({ labels }) => labels.listener === 'failing')?.value).toBeCloseTo(60, -1);
  });

  test('waits longer after each failure', async () => {
    expect([1, 2, 3, 9, 10, 50].map(retryAfterSeconds)).toStrictEqual([1, 2, 4, 256, 300, 300]);
    const tenant = await makeTenant(deps.db);
    const { listener } = await listening('never', ['a'], () => true);
    await happen(tenant, 'a');
    const pauses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await takeTurns(deps, listener);
      const { rows } = await deps.db.query<{ seconds: number }>(
        'select extract(epoch from retry_at - now())::double precision as seconds from event_cursors',
      );
      pauses.push(Math.round(rows[0]!.seconds));
      await retryNow();
    }
    expect(pauses).toStrictEqual([1, 2, 4]);
  });

  test('is woken for tenants by name, and once a second looks at all', async () => {
    const [named, other] = [await makeTenant(deps.db), await makeTenant(deps.db)];
    const { listener, heard } = await listening('woken', ['a']);
    const turns = new ListenerTurns(deps, listener);
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    await turns.take();
    for (const tenant of [named, other]) await happen(tenant, 'a');
    turns.wake([named]);
    await turns.take();
    expect(heard.map(({ tenant }) => tenant)).toEqual([named]);
    now.mockReturnValue(1_000);
    await turns.take();
    expect(heard.map(({ tenant }) => tenant)).toEqual([named, other]);
  });

  test('is passed over where another process has the turn', async () => {
    const tenant = await makeTenant(deps.db);
    const { listener, heard } = await listening('taken', ['a']);
    await happen(tenant, 'a');
    // The cursor is there after the first look.
    await happen(tenant, 'a');
    await takeTurns(deps, listener);
    await happen(tenant, 'a');
    const holder = await deps.db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from event_cursors where tenant_id = $1 for update', [tenant]);
      await takeTurns(deps, listener);
      expect(heard).toHaveLength(1);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await takeTurns(deps, listener);
    expect(heard).toHaveLength(2);
  });
});

describe('appending', () => {
  test('does not wait for a locked stream', async () => {
    const tenant = await makeTenant(deps.db);
    await happen(tenant, 'a');
    const holder = await deps.db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from event_streams where tenant_id = $1 for update', [tenant]);
      await deps.db.query(`set lock_timeout = '500ms'`);
      await appendEvents(deps.db, tenant, [event('b')]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await numberEvents(deps.db, [tenant]);
    const { rows } = await deps.db.query('select seq, type from events where tenant_id = $1 order by seq', [
      tenant,
    ]);
    expect(rows).toStrictEqual([
      { seq: 1n, type: 'a' },
      { seq: 2n, type: 'b' },
    ]);
  });

  test('keeps the order of one call, and what is rolled back was never there', async () => {
    const tenant = await makeTenant(deps.db);
    await inTransaction(deps.db, (tx) => appendEvents(tx, tenant, [event('a'), event('b'), event('c')]));
    await expect(
      inTransaction(deps.db, async (tx) => {
        await appendEvents(tx, tenant, [event('lost')]);
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await appendEvents(deps.db, tenant, []);
    await numberEvents(deps.db, [tenant]);
    const { rows } = await deps.db.query<{ type: string }>(
      'select type from events where tenant_id = $1 order by seq',
      [tenant],
    );
    expect(rows.map(({ type }) => type)).toStrictEqual(['a', 'b', 'c']);
  });

  test('notes the newest event that relays must hear of', async () => {
    const tenant = await makeTenant(deps.db);
    await appendEvents(deps.db, tenant, [event('a'), { ...event('b'), revokes: true }, event('c')]);
    await numberEvents(deps.db, [tenant]);
    const last = 'select last_seq, last_revocation from event_streams where tenant_id = $1';
    expect((await deps.db.query(last, [tenant])).rows).toStrictEqual([{ last_seq: 3n, last_revocation: 2n }]);
    await happen(tenant, 'd');
    expect((await deps.db.query(last, [tenant])).rows).toStrictEqual([{ last_seq: 4n, last_revocation: 2n }]);
  });
});
