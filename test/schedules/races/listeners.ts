/** Events that get their numbers, and listeners that take turns at them. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents, appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import type { NewEvent } from '../../../src/events/event.ts';
import type { Listener } from '../../../src/events/listener.ts';
import { inLogSnapshot } from '../../../src/events/log-snapshot.sql.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { takeTurns } from '../../../src/events/run-listeners.ts';
import { upsertListener } from '../../../src/events/turns.sql.ts';
import { makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';
import { depsOf } from './deps.ts';

interface World {
  readonly tenant: TenantId;
}

const EVENT: NewEvent = { type: 'heard', roomUid: null, subject: {} };

/** Keeps what it hears, in the transaction of its turn. */
const LISTENER: Listener = {
  name: 'ear',
  types: ['heard'],
  handle: async (tx, tenant, events) => {
    const seqs = events.map(({ seq }) => seq);
    await tx.query({
      name: 'keep-heard',
      text: 'insert into heard_events (tenant_id, seq) select $1, unnest($2::bigint[])',
      values: [tenant, seqs],
    });
  },
};

/** A tenant with one event that waits for the listener. */
async function prepare(db: Pool): Promise<World> {
  await db.query(
    `create table if not exists heard_events (tenant_id bigint, seq bigint);
     create table if not exists told_states (tenant_id bigint)`,
  );
  await upsertListener(db, LISTENER);
  const tenant = await makeTenant(db);
  await happen(db, tenant);
  return { tenant };
}

async function happen(db: Pool, tenant: TenantId): Promise<void> {
  await inTransaction(db, (tx) => appendEvents(tx, tenant, [EVENT]));
  await numberEvents(db, [tenant]);
}

const listen = ({ tenant }: World, db: Pool) => takeTurns(depsOf(db), LISTENER, [tenant]);

/** Each of `count` events was heard once, after a last turn that only takes what waits. */
async function checkHeard(db: Pool, world: World, count: number): Promise<string | undefined> {
  await listen(world, db);
  const { rows } = await db.query<{ seqs: string }>(
    `select coalesce(string_agg(seq::text, ',' order by seq), '') as seqs from heard_events where tenant_id = $1`,
    [world.tenant],
  );
  const expected = Array.from({ length: count }, (_, at) => at + 1).join();
  return rows[0]!.seqs === expected ? undefined : `it heard ${rows[0]!.seqs}, and not ${expected}`;
}

const twoProcesses = staged<World>({
  name: 'two processes take the turns of a listener',
  prepare,
  actors: [listen, listen],
  check: (db, world) => checkHeard(db, world, 1),
});

const lateEvent = staged<World>({
  name: 'an event that happens during a turn',
  prepare,
  actors: [listen, ({ tenant }, db) => happen(db, tenant)],
  check: (db, world) => checkHeard(db, world, 2),
});

/** Moderation numbers its events in its own transaction. */
const twoNumbers = staged<World>({
  name: 'two transactions that number their events',
  prepare,
  actors: [0, 1].map(
    () =>
      ({ tenant }: World, db: Pool) =>
        inTransaction(db, (tx) => appendNumberedEvents(tx, tenant, [EVENT])),
  ),
  check: async (_db, _world, numbers) => {
    const sorted = numbers.map(String).sort().join();
    return sorted === '2,3' ? undefined : `they got ${sorted}`;
  },
});

/** A state and its event, and a reader that takes the state first and the events after it. */
const snapshot = staged<World>({
  name: 'a snapshot of a log that moves',
  prepare,
  actors: [
    ({ tenant }, db) =>
      inTransaction(db, async (tx) => {
        await tx.query('insert into told_states (tenant_id) values ($1)', [tenant]);
        await appendEvents(tx, tenant, [EVENT]);
      }),
    ({ tenant }, db) => numberEvents(db, [tenant]),
    ({ tenant }, db) =>
      inLogSnapshot(db, tenant, async (tx, { seq }) => {
        const { rowCount } = await tx.query('select from told_states where tenant_id = $1', [tenant]);
        return { states: rowCount, seq };
      }),
  ],
  check: async (_db, _world, ended) => {
    const { states, seq } = ended[2] as { states: number; seq: bigint };
    return BigInt(states) === seq - 1n ? undefined : `it shows ${states} states at place ${seq}`;
  },
});

export const LISTENERS: Part = {
  part: 'listeners',
  scenarios: [twoProcesses, lateEvent, twoNumbers, snapshot],
  races: [
    {
      name: 'two processes handle the same events',
      scenario: twoProcesses,
      rewrite: { statement: 'lock-cursor', from: 'for update skip locked', to: '' },
    },
    {
      name: 'two processes begin the first turn',
      scenario: twoProcesses,
      rewrite: { statement: 'insert-cursors', from: 'on conflict do nothing', to: '' },
    },
    {
      name: 'a turn ends those of events that came meanwhile',
      scenario: lateEvent,
      rewrite: { statement: 'finish-turn', from: 'and seq <= $3', to: '' },
    },
    {
      name: 'two transactions give the same numbers',
      scenario: twoNumbers,
      rewrite: { statement: 'lock-stream', from: 'for update', to: '' },
    },
    {
      name: 'a snapshot shows what a later event tells',
      scenario: snapshot,
      rewrite: { statement: 'export-log-snapshot', from: 'pg_export_snapshot()', to: 'null' },
    },
  ],
};
