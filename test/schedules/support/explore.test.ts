/** Schedules are found, replayed and shrunk, here without a database. */
import { describe, expect, test } from 'vitest';
import type { Actor } from './actor.ts';
import { explore, shrink } from './explore.ts';
import { runSchedule } from './run-schedule.ts';
import type { Play } from './scenario.ts';
import { type Choices, chooseAsIn, chooseBySeed, renderTurns } from './schedule.ts';

const STEPS = 12;
const SURROUNDINGS = {
  settle: async (actors: readonly Actor[]) => {
    await new Promise(setImmediate);
    return actors.filter(({ isReady }) => isReady);
  },
  unlock: async () => {},
};

/** Three actors of some steps. It is wrong if `isWrong` says so of their order. */
function playing(isWrong: (choices: Choices) => boolean): Play {
  const work = async (actor: Actor) => {
    for (let at = 0; at < STEPS; at += 1) await actor.step(`step ${at}`, async () => {});
  };
  return async (choose) => {
    const run = await runSchedule([work, work, work], choose, SURROUNDINGS);
    return { ...run, violation: isWrong(run.choices) ? 'wrong' : undefined };
  };
}

/** The second actor makes all of its steps between two of the first. */
const isBetween = (choices: Choices) => {
  const [from, to] = [choices.indexOf(1), choices.lastIndexOf(1)];
  return choices.slice(0, from).includes(0) && choices.slice(to).includes(0);
};

test('a seed chooses the same way each time, and others choose other ways', async () => {
  const play = playing(() => false);
  const ways = new Set<string>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const { choices, trace } = await play(chooseBySeed(seed));
    expect((await play(chooseBySeed(seed))).trace).toEqual(trace);
    expect((await play(chooseAsIn(choices))).trace).toEqual(trace);
    ways.add(renderTurns(choices));
  }
  expect(ways.size).toBeGreaterThan(15);
});

test('choices that cannot be made are left out, and actors end one after another', async () => {
  const { choices } = await playing(() => false)(chooseAsIn([2, 2, 7, 0]));
  expect(renderTurns(choices)).toBe('2x2 0x12 1x12 2x10');
});

describe('a schedule that does harm', () => {
  test('is found, and shrunk to as few turns as it takes', async () => {
    const play = playing(isBetween);
    const found = await explore(play, { most: 10_000 });
    expect(found?.run.violation).toBe('wrong');
    const least = await shrink(play, found!.run);
    expect(renderTurns(least.choices)).toMatch(/^(2x\d+ )?0x\d+ 1x12 0x\d+( 2x\d+)?$/);
  });

  test('is not found where there is none', async () => {
    expect(
      await explore(
        playing(() => false),
        { most: 50 },
      ),
    ).toBe(undefined);
  });
});
