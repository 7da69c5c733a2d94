/** Single connections of PostgreSQL are killed, and locks are held that services wait for. */
import pg from 'pg';
import { signal } from '../../test/deploy/processes.ts';
import type { Stage } from '../stage/stage.ts';
import type { Choice, Fault, Mend } from './fault.ts';

const lane = 'connections';

/** What is locked, and how: tables that requests of many kinds write, and rows of every tenant. */
const LOCKS = [
  'select from accounts for no key update',
  'select from tenants for no key update',
  'select from event_streams for update',
  'select from rooms for no key update',
  'select from webhook_cursors for update',
  'select from top_up_attempts for update',
  'select from api_keys for no key update',
  'lock table usage_records in share mode',
  'lock table events in share mode',
  'lock table postings in access exclusive mode',
];

export const CONNECTIONS: readonly Fault[] = [
  {
    name: 'a connection of PostgreSQL is ended',
    lane,
    weight: 8,
    seconds: [0, 0.1],
    happen: async (stage, { dice }) => {
      await end(stage, 'order by pid offset $1 limit 1', [Math.floor(dice * 20)]);
      return undefined;
    },
  },
  {
    name: 'a connection in a transaction is ended',
    lane,
    weight: 8,
    seconds: [0, 0.1],
    happen: async (stage) => {
      // In the middle of a statement, or between two of them.
      await end(stage, 'and xact_start is not null order by random() limit 1');
      return undefined;
    },
  },
  {
    name: 'all connections of PostgreSQL are ended',
    lane,
    weight: 1,
    seconds: [0, 0.5],
    happen: async (stage) => {
      await end(stage, '');
      return undefined;
    },
  },
  {
    name: 'a process of PostgreSQL is killed',
    lane,
    // PostgreSQL then ends all others, and recovers.
    weight: 0.7,
    seconds: [0, 1],
    happen: async (stage) => {
      signal(await choose(stage, 'order by random() limit 1'), 'SIGKILL');
      return () => stage.database.start();
    },
  },
  {
    name: 'a process of PostgreSQL stands still',
    lane,
    weight: 3,
    seconds: [0.3, 3],
    happen: async (stage) => {
      const stopped = await choose(stage, 'and xact_start is not null order by random() limit 1');
      signal(stopped, 'SIGSTOP');
      return () => signal(stopped, 'SIGCONT');
    },
  },
  {
    name: 'a lock is held',
    lane,
    weight: 5,
    seconds: [0.2, 3],
    happen: holdLock,
  },
];

const OTHERS = `select pid from pg_stat_activity where usename = 'boxoffice_app'`;

/** At least one of the connections that services have. */
async function choose({ db }: Stage, which: string): Promise<number[]> {
  const { rows } = await db.query<{ pid: number }>(`${OTHERS} ${which}`);
  if (rows.length === 0) throw new Error('there is no such connection');
  return rows.map(({ pid }) => pid);
}

async function end({ db }: Stage, which: string, values: readonly unknown[] = []): Promise<void> {
  const text = `select pg_terminate_backend(pid) as has_ended from (${OTHERS} ${which}) as chosen`;
  const { rows } = await db.query<{ has_ended: boolean }>(text, [...values]);
  if (!rows.some(({ has_ended }) => has_ended)) throw new Error('there is no such connection');
}

/** Those that wait for a lock of the connection that asks. */
const WAITERS = `select from pg_stat_activity where wait_event_type = 'Lock' and pg_backend_pid() = any(pg_blocking_pids(pid))`;

async function holdLock({ database }: Stage, { dice }: Choice): Promise<Mend> {
  const client = new pg.Client({
    connectionString: database.url('boxoffice'),
    application_name: 'boxoffice faults',
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin');
    // A lock that does not come soon is not waited for.
    await client.query('set local lock_timeout = 2000');
    await client.query(LOCKS[Math.floor(dice * LOCKS.length)]!);
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return async () => {
    const waiters = await client.query(WAITERS).catch(() => undefined);
    await client.end().catch(() => {});
    return waiters !== undefined && waiters.rows.length > 0;
  };
}
