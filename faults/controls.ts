/**
 * Controls: each breaks something on purpose, and the check has to find it. A check that does not find it would not find a mistake of the
 * product either.
 *
 * They are outside of the product: they change PostgreSQL, its tables or what receivers get, or let a service load a module that changes
 * its statements.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Shared } from './load/client.ts';
import { raceReplacements } from './load/keys.ts';
import type { Stage, StageOptions } from './stage/stage.ts';

export interface Control {
  readonly name: string;
  readonly summary: string;
  /** How long the campaign takes: long enough to find it. */
  readonly minutes: number;
  /** Rules that look for what it breaks. One of them at least has to find it: what others find does not show that these work. */
  readonly foundBy: readonly [string, ...string[]];
  /** Faults that would excuse what must be found. */
  readonly without?: RegExp;
  readonly stage?: StageOptions;
  /** Happens while the load runs and faults happen. Returns what it has done. */
  run?(stage: Stage, shared: Shared, stopping: AbortSignal): Promise<string>;
}

/** The load runs for so long first, so that there is something to lose. */
const LOAD_MS = 15_000;
const MINUTES = 0.75;
/** A record that was lost, or charged again. */
const LOST = 'an acknowledged record is charged exactly once';
const preload = (name: string) => new URL(`./preload/${name}.ts`, import.meta.url).href;

export const CONTROLS: readonly Control[] = [
  {
    name: 'fsync-off',
    summary: 'PostgreSQL does not sync what it writes, and its machine loses power',
    minutes: MINUTES,
    foundBy: [LOST],
    stage: { durable: false, losesPower: true },
    run: async ({ database }, _, stopping) => {
      // Otherwise the tables themselves could be lost, and no rule could look at anything.
      await database.disk.sync();
      await wait(LOAD_MS, stopping);
      await database.losePower();
      await database.start();
      return 'the machine lost power';
    },
  },
  {
    name: 'asynchronous-commit',
    summary: 'commits are acknowledged before they are written, and PostgreSQL loses power three times',
    minutes: MINUTES,
    foundBy: [LOST, 'a record that was acknowledged before is a duplicate'],
    run: async (stage, _, stopping) => {
      await asSuperuser(stage, 'alter role boxoffice_app set synchronous_commit = off');
      await asSuperuser(stage, ENDS_CONNECTIONS);
      for (let time = 1; time <= 3; time += 1) {
        await wait(LOAD_MS / 2, stopping);
        // What is not written yet is in the memory of PostgreSQL.
        await (stage.database.disk.limits === undefined ? stage.database.losePower() : stage.database.kill());
        await stage.database.start();
      }
      return 'PostgreSQL lost power three times';
    },
  },
  {
    name: 'index-dropped',
    summary: 'the unique index of usage records is dropped',
    minutes: MINUTES,
    foundBy: [LOST],
    run: async (stage) => {
      await asSuperuser(stage, 'alter table usage_records drop constraint usage_records_pkey');
      return 'the index was dropped at the beginning';
    },
  },
  {
    name: 'stale-keys',
    summary: 'services know keys for ten seconds, although they are revoked',
    minutes: MINUTES,
    foundBy: ['a revoked key is refused'],
    stage: { preloads: [preload('stale-keys')] },
  },
  {
    name: 'lost-event',
    summary: 'an event is deleted from the log of a tenant',
    minutes: MINUTES,
    foundBy: ['events are numbered without a gap'],
    run: async (stage, _, stopping) => {
      await wait(LOAD_MS, stopping);
      return `${await asSuperuser(
        stage,
        'set session_replication_role = replica',
        `delete from events where (tenant_id, seq) in (
           select tenant_id, seq from events e where seq + 5 < (select max(seq) from events l where l.tenant_id = e.tenant_id)
            order by seq desc limit 1) returning tenant_id, seq, type`,
      )}`;
    },
  },
  {
    name: 'doubled-webhook',
    summary: 'a receiver gets an event again, after it has accepted it and later ones',
    minutes: MINUTES,
    foundBy: ['an event that was accepted does not come again'],
    // What stood still, or lost its lease to a clock, may send an event of before.
    without: /stands still|clock of PostgreSQL/,
    run: async (stage, { tenants }, stopping) => {
      await wait(LOAD_MS, stopping);
      const path = `/t${tenants[0]!.index}/tenant`;
      while (!stopping.aborted && !(await stage.receivers.repeat(path))) await wait(1_000, stopping);
      return `at ${path}`;
    },
  },
  {
    name: 'lost-carry',
    summary: 'accounts forget what their last charge left over below a micro',
    minutes: MINUTES,
    foundBy: ['what rounding leaves over is kept'],
    run: async (stage, _, stopping) => {
      await wait(LOAD_MS, stopping);
      // Half a micro, as before the first charge.
      return asSuperuser(stage, 'update accounts set carry = 1006632960000 where carry <> 1006632960000');
    },
  },
  {
    name: 'lock-not-taken',
    summary: 'changes of keys do not lock what they change',
    minutes: MINUTES,
    foundBy: ['a key is replaced once'],
    stage: { preloads: [preload('no-lock')] },
    // On a busy machine, the load alone changes few keys at the same moment.
    run: async (_, shared, stopping) => `after ${await raceReplacements(shared, stopping)} keys`,
  },
];

const ENDS_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'boxoffice_app'`;

/** Statements that never succeed. Source: PostgreSQL, appendix A "Error Codes": classes 22, 23 and 42. */
const MISTAKES = /^(22|23|42)/;

/** Faults may end its connection: it tries until all of it is done. Returns how many rows the last statement concerned. */
async function asSuperuser({ database }: Stage, ...statements: readonly string[]): Promise<string> {
  for (;;) {
    const client = new pg.Client(database.url('postgres'));
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('begin');
      let concerned = 0;
      for (const text of statements) concerned = (await client.query(text)).rowCount ?? 0;
      await client.query('commit');
      return `${concerned} rows`;
    } catch (error) {
      if (MISTAKES.test((error as { code?: string }).code ?? '')) throw error;
      await sleep(500);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch(() => {});
}
