/** A schedule: which actor made each step, and how the next one is chosen. */
import { seeded } from '../../support/seeded.ts';

/** The index of the actor that was released, for each step. */
export type Choices = readonly number[];

/** Chooses among the actors that may be released. `last`: the one that was released last. */
export type Choose = (ready: readonly number[], last: number | undefined) => number;

/** Steps in a row of one actor. */
export interface Turn {
  readonly actor: number;
  readonly steps: number;
}

export function turnsOf(choices: Choices): Turn[] {
  const turns: Turn[] = [];
  for (const actor of choices) {
    const last = turns.at(-1);
    if (last?.actor === actor) turns[turns.length - 1] = { actor, steps: last.steps + 1 };
    else turns.push({ actor, steps: 1 });
  }
  return turns;
}

export function choicesOf(turns: readonly Turn[]): number[] {
  return turns.flatMap(({ actor, steps }) => Array.from({ length: steps }, () => actor));
}

/** As `0x3 1x2`: three steps of the first actor, then two of the second. */
export function renderTurns(choices: Choices): string {
  return turnsOf(choices)
    .map(({ actor, steps }) => `${actor}x${steps}`)
    .join(' ');
}

/** How likely another actor goes on: many races need few changes at the right places, others need many. */
const CHANGES = [0.1, 0.3, 0.7];

/** The same choices for the same seed. */
export function chooseBySeed(seed: number): Choose {
  const random = seeded(seed);
  const changes = CHANGES[Math.floor(random() * CHANGES.length)]!;
  return (ready, last) => {
    if (last !== undefined && ready.includes(last) && random() >= changes) return last;
    return ready[Math.floor(random() * ready.length)]!;
  };
}

/** The given choices. Leaves out those that cannot be made, and then lets one actor after another go on to its end. */
export function chooseAsIn(choices: Choices): Choose {
  const left = choices.values();
  return (ready, last) => {
    for (const actor of left) if (ready.includes(actor)) return actor;
    return last !== undefined && ready.includes(last) ? last : Math.min(...ready);
  };
}
