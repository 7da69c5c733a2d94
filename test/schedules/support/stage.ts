/**
 * A database for actors: each has connections of its own, whose statements it sends once they are released.
 *
 * The statements of a pipeline in a transaction are steps of their own, as other transactions run between them in PostgreSQL, too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Pipeline, resultsOf, type Statement } from '../../../src/base/db/pipeline.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import type { Actor, Bell } from './actor.ts';
import { type Rewrite, Rewriting } from './rewriting.ts';
import type { Surroundings } from './run-schedule.ts';

/** Only a pause: what counts is what the database says. */
const LOOK_MS = 1;

/** One, and one more for what reads a snapshot in one transaction and numbers events in another. */
const CONNECTIONS = 2;

/** The connections of one actor, which serve many runs. */
interface Seat {
  readonly pool: Pool;
  readonly pids: Set<number>;
  /** Who sits there in this run. */
  actor: Actor | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the driver's method has a type for each way to call it
type Send = (...given: any[]) => any;

export class Stage implements Surroundings {
  /** Not stopped: for preparations and checks. */
  readonly db: Pool;
  /** Several actors may wait for one lock: it does not matter which of them gets it first. */
  mayCrowd = false;
  readonly #url: string;
  readonly #seats: Seat[] = [];
  #rewriting = new Rewriting();
  #plants = 0;

  constructor(url: string) {
    this.#url = url;
    this.db = openPool(url, { max: 2 });
  }

  /** The pool of an actor in this run. */
  seat(actor: Actor): Pool {
    this.#seats[actor.index] ??= this.#open();
    const seat = this.#seats[actor.index]!;
    seat.actor = actor;
    return seat.pool;
  }

  /** From now on, a statement of actors is rewritten so, or none. */
  plant(rewrite?: Rewrite): void {
    this.#plants += 1;
    this.#rewriting = new Rewriting(rewrite, this.#plants);
  }

  /** Whether what was planted is in no statement that was sent. */
  get isUnused(): boolean {
    return this.#rewriting.isUnused;
  }

  /**
   * While an actor waits for a lock, only those go on that it waits for: which one of two that wait gets the lock is left to
   * PostgreSQL, and is not the same each time.
   */
  async settle(actors: readonly Actor[], bell: Bell): Promise<readonly Actor[]> {
    for (;;) {
      const open = actors.filter(({ isDone, isReady }) => !isDone && !isReady);
      const ready = actors.filter(({ isReady }) => isReady);
      if (open.length === 0) return ready;
      const hasRung = await Promise.race([bell.rung().then(() => true), sleep(LOOK_MS, false)]);
      if (hasRung || open.some(({ isRunning }) => !isRunning)) continue;
      // All of them, by one look: one that is not blocked may end the wait of another one.
      const blockers = await this.#findBlockers();
      if (!open.every((actor) => blockers.has(actor))) continue;
      return this.mayCrowd ? ready : ready.filter((actor) => [...blockers.values()].flat().includes(actor));
    }
  }

  /** Actors whose statement waits for a lock, and the actors that they wait for. */
  async #findBlockers(): Promise<Map<Actor, readonly Actor[]>> {
    const byPid = new Map(
      this.#seats.flatMap(({ pids, actor }) => (actor ? [...pids].map((pid) => [pid, actor] as const) : [])),
    );
    const { rows } = await this.db.query<{ pid: number; blockers: number[] }>({
      name: 'find-blocked-actors',
      text: `select pid, pg_blocking_pids(pid) as blockers from unnest($1::integer[]) as pid
              where pg_blocking_pids(pid) && $1`,
      values: [[...byPid.keys()]],
    });
    return new Map(
      rows.map(({ pid, blockers }) => [byPid.get(pid)!, blockers.flatMap((each) => byPid.get(each) ?? [])]),
    );
  }

  /** Ends the connections of all actors. */
  async unlock(): Promise<void> {
    const seats = this.#seats.splice(0);
    const pids = seats.flatMap((seat) => [...seat.pids]);
    await this.db.query('select pg_terminate_backend(pid, 10000) from unnest($1::integer[]) as pid', [pids]);
    await Promise.all(seats.map(({ pool }) => pool.end()));
  }

  async close(): Promise<void> {
    await Promise.all([this.db, ...this.#seats.map(({ pool }) => pool)].map((pool) => pool.end()));
  }

  #open(): Seat {
    const pool = openPool(this.#url, { max: CONNECTIONS, applicationName: 'actor' });
    // Time must decide nothing.
    Object.assign(pool.options, { lock_timeout: 0, statement_timeout: 0, query_timeout: 0 });
    Object.assign(pool.options, { idle_in_transaction_session_timeout: 0, idleTimeoutMillis: 0 });
    const seat: Seat = { pool, pids: new Set(), actor: undefined };
    pool.on('connect', (client) => {
      const { processID } = client as unknown as { processID: number };
      seat.pids.add(processID);
      client.once('end', () => seat.pids.delete(processID));
      this.#stop(client, seat);
    });
    return seat;
  }

  /** Statements of the connection wait until the actor of the seat is released. */
  #stop(client: pg.PoolClient, seat: Seat): void {
    const send: Send = client.query.bind(client);
    let isInTransaction = false;
    const step = <T>(statements: readonly Statement[], work: () => Promise<T>): Promise<T> =>
      seat.actor!.step(statements.map(labelOf).join(', '), () => {
        const { text } = statements.at(-1)!;
        if (/^(commit|rollback)/.test(text)) isInTransaction = false;
        if (/(^|; )begin/.test(text)) isInTransaction = true;
        return work();
      });
    const sendParts = async ({ statements, callback }: Pipeline): Promise<void> => {
      const mayPart = isInTransaction || statements[0]?.text === 'begin';
      const parts = mayPart ? statements.map((each) => [each]) : [statements];
      const results = [];
      for (const part of parts) {
        const rewritten = part.map((each) => this.#rewriting.apply(each, seat.actor!.index));
        results.push(...(await step(part, () => resultsOf({ query: send }, rewritten))));
      }
      callback(null, results);
    };
    client.query = ((given: Pipeline | Statement | string, ...rest: unknown[]) => {
      if (given instanceof Pipeline) {
        sendParts(given).catch((error) => given.callback(error));
        return given;
      }
      const statement = this.#rewriting.apply(given, seat.actor!.index);
      const told = typeof statement === 'string' ? { name: '', text: statement } : statement;
      const callback = rest.at(-1);
      if (typeof callback !== 'function') return step([told], () => send(statement, ...rest));
      void step([told], async () => send(statement, ...rest.slice(0, -1))).then(
        (result) => callback(null, result),
        (error) => callback(error),
      );
    }) as typeof client.query;
  }
}

function labelOf({ name, text }: Statement): string {
  return name === undefined || name === '' ? text.replaceAll(/\s+/g, ' ').slice(0, 60) : name;
}
