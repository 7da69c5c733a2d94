/** What actors do side by side, what must hold in the end, and how it is found that it does not. */
import type { Pool } from '../../../src/base/db/pool.ts';
import type { Actor } from './actor.ts';
import type { Rewrite } from './rewriting.ts';
import { type Outcome, type Run, runSchedule } from './run-schedule.ts';
import type { Choose } from './schedule.ts';
import type { Stage } from './stage.ts';

/** A run that has been judged. */
export interface Judged extends Run {
  /** What is wrong in the end. `undefined`: nothing. */
  readonly violation: string | undefined;
}

/** Runs once, in the chosen order. */
export type Play = (choose: Choose) => Promise<Judged>;

/** Transactions of the product on a database. */
export interface Scenario<World> {
  readonly name: string;
  /** Several actors may wait for one lock, and it does not matter which of them gets it first. */
  readonly mayCrowd?: true;
  /** Makes what one run needs, in a database where earlier runs have left theirs. */
  readonly prepare: (db: Pool) => Promise<World>;
  readonly actors: readonly ((world: World, db: Pool, actor: Actor) => Promise<unknown>)[];
  /** Returns what is wrong, or throws. `ended`: what each actor returned. Not called if one has failed. */
  readonly check: (db: Pool, world: World, ended: readonly unknown[]) => Promise<string | undefined>;
}

/** A scenario that can be played on a stage. */
export interface Staged {
  readonly name: string;
  on(stage: Stage): Play;
}

export function staged<World>({ name, mayCrowd, prepare, actors, check }: Scenario<World>): Staged {
  const on = (stage: Stage): Play => {
    return async (choose) => {
      stage.mayCrowd = mayCrowd === true;
      const world = await prepare(stage.db);
      const works = actors.map((work) => (actor: Actor) => work(world, stage.seat(actor), actor));
      const run = await runSchedule(works, choose, stage);
      const violation =
        findFailure(run.outcomes) ?? (await check(stage.db, world, run.outcomes.map(resultOf)));
      return { ...run, violation };
    };
  };
  return { name, on };
}

/** An actor that fails where the scenario expects no failure, or waits for ever. */
export function findFailure(outcomes: readonly Outcome[]): string | undefined {
  if (outcomes.some(({ status }) => status === 'stuck')) return 'actors wait for one another for ever';
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') return `actor ${index} failed: ${messageOf(outcome.reason)}`;
  }
  return undefined;
}

function resultOf(outcome: Outcome): unknown {
  return outcome.status === 'fulfilled' ? outcome.value : undefined;
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** A rule that is taken away, so that the actors of a scenario come into each other's way. */
export interface Race {
  readonly name: string;
  readonly scenario: Staged;
  readonly rewrite: Rewrite;
  /** The product had this race once. */
  readonly wasReal?: true;
}

/** A part of the product. */
export interface Part {
  readonly part: string;
  readonly scenarios: readonly Staged[];
  readonly races: readonly Race[];
}
