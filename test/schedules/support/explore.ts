/** Looks for a schedule that breaks what must hold, and for the shortest like it. */
import type { Judged, Play } from './scenario.ts';
import { type Choices, choicesOf, chooseAsIn, chooseBySeed, type Turn, turnsOf } from './schedule.ts';

export interface Found {
  /** How many were run, the one that was found included. */
  readonly schedules: number;
  readonly seed: number;
  readonly run: Judged;
}

/** Schedules by the seeds from `first` on. `undefined`: none of them breaks anything. */
export async function explore(
  play: Play,
  { most, first = 1 }: { readonly most: number; readonly first?: number },
): Promise<Found | undefined> {
  // Caches of the actors are filled, so that their steps are the same from now on.
  await play(chooseAsIn([]));
  for (let schedules = 1; schedules <= most; schedules += 1) {
    const seed = first + schedules - 1;
    const run = await play(chooseBySeed(seed));
    if (run.violation !== undefined) return { schedules, seed, run };
  }
  return undefined;
}

/**
 * Leaves out turns, as long as something is still wrong. Nothing takes the place of what is left out: at the end of the turns, one
 * actor after another goes on to its end.
 */
export async function shrink(play: Play, found: Judged): Promise<Judged> {
  let best = found;
  const attempt = async (turns: readonly Turn[]): Promise<boolean> => {
    const run = await play(chooseAsIn(choicesOf(turns)));
    const isSmaller = run.violation !== undefined && sizeOf(run.choices) < sizeOf(best.choices);
    if (isSmaller) best = run;
    return isSmaller;
  };
  while (await shrinkOnce(turnsOf(best.choices), attempt));
  return best;
}

/** Fewer turns are smaller, then fewer steps before the last turn of each actor. */
function sizeOf(choices: Choices): number {
  const turns = turnsOf(choices);
  return turns.length * 10_000 + choices.length;
}

/** Halves first, then quarters, down to single turns. Returns whether one of them could go. */
async function shrinkOnce(
  turns: readonly Turn[],
  attempt: (turns: readonly Turn[]) => Promise<boolean>,
): Promise<boolean> {
  for (let size = turns.length >> 1; size >= 1; size >>= 1) {
    for (let at = turns.length - size; at >= 0; at -= size) {
      if (await attempt([...turns.slice(0, at), ...turns.slice(at + size)])) return true;
    }
  }
  return false;
}
