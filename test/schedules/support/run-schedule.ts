/** Runs actors side by side, one step at a time, in an order that is chosen from outside. */
import { Actor, Bell } from './actor.ts';
import type { Choices, Choose } from './schedule.ts';

/** What the actors share: a database, or objects of this process. */
export interface Surroundings {
  /**
   * Resolves once no actor goes on by itself: each is done, stopped, or waits for another one. Returns those of the stopped that may
   * be released.
   */
  settle(actors: readonly Actor[], bell: Bell): Promise<readonly Actor[]>;
  /** Ends what actors wait for that wait for one another. */
  unlock(): Promise<void>;
}

/** How the work of an actor ended. */
export type Outcome =
  | { readonly status: 'fulfilled'; readonly value: unknown }
  | { readonly status: 'rejected'; readonly reason: unknown }
  | { readonly status: 'stuck' };

export interface Run {
  readonly choices: Choices;
  /** The steps as they were made. */
  readonly trace: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/** An actor that makes more steps than this goes round in circles. */
const STEPS_MAX = 1_000;

export async function runSchedule(
  works: readonly ((actor: Actor) => Promise<unknown>)[],
  choose: Choose,
  surroundings: Surroundings,
): Promise<Run> {
  const bell = new Bell();
  const actors = works.map((_, index) => new Actor(index, bell));
  const outcomes: Outcome[] = works.map(() => ({ status: 'stuck' }));
  const ended = works.map(async (work, index) => {
    outcomes[index] = await work(actors[index]!).then(
      (value) => ({ status: 'fulfilled', value }) as const,
      (reason: unknown) => ({ status: 'rejected', reason }) as const,
    );
    actors[index]!.end();
  });
  const choices: number[] = [];
  const trace: string[] = [];
  while (choices.length < STEPS_MAX) {
    const ready = (await surroundings.settle(actors, bell)).map(({ index }) => index);
    if (ready.length === 0) break;
    const next = choose(ready, choices.at(-1));
    choices.push(next);
    trace.push(`${next}: ${actors[next]!.release()}`);
  }
  const stuck = actors.filter(({ isDone }) => !isDone);
  const told = outcomes.slice();
  if (stuck.length > 0) {
    for (const actor of actors) actor.free();
    await surroundings.unlock();
  } else {
    await Promise.all(ended);
  }
  return { choices, trace, outcomes: told };
}
