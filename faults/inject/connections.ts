/** Single connections of PostgreSQL are killed, and locks are held that services wait for. */
import pg from 'pg';
import { signal } from '../../test/deploy/processes.ts';
import type { Stage } from '../stage/stage.ts';
import type { Choice, Fault } from './fault.ts';

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
      const { rows } = await stage.db.query<{ pid: number }>(`${OTHERS} order by random() limit 1`);
      signal(
        rows.map(({ pid }) => pid),
        'SIGKILL',
      );
      return () => stage.database.start();
    },
  },
  {
    name: 'a process of PostgreSQL stands still',
    lane,
    weight: 3,
    seconds: [0.3, 3],
    happen: async (stage) => {
      const { rows } = await stage.db.query<{ pid: number }>(
        `${OTHERS} and xact_start is not null order by random() limit 1`,
      );
      const stopped = rows.map(({ pid }) => pid);
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

async function end({ db }: Stage, which: string, values: readonly unknown[] = []): Promise<void> {
  const text = `select pg_terminate_backend(pid) from (${OTHERS} ${which}) as chosen`;
  await db.query(text, [...values]);
}

async function holdLock({ database }: Stage, { dice }: Choice) {
  const client = new pg.Client({
    connectionString: database.url('boxoffice'),
    application_name: 'boxoffice faults',
  });
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  // A lock that does not come soon is not waited for.
  await client.query('set local lock_timeout = 2000');
  await client.query(LOCKS[Math.floor(dice * LOCKS.length)]!).catch(() => {});
  return () => client.end().catch(() => {});
}
