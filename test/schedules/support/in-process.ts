/** Objects of one process, whose statements and timers end in the chosen order. */
import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Actor } from './actor.ts';
import { type Outcome, runSchedule } from './run-schedule.ts';
import { findFailure, type Play } from './scenario.ts';

/** After so many turns of the event loop, what can go on has gone on: timers go by the clock of the test. */
const TURNS = 6;

const PROCESS = {
  settle: async (actors: readonly Actor[]) => {
    for (let at = 0; at < TURNS; at += 1) await turn();
    return actors.filter(({ isReady }) => isReady);
  },
  unlock: async () => {},
};

export interface Played {
  readonly works: readonly ((actor: Actor) => Promise<unknown>)[];
  readonly check: (outcomes: readonly Outcome[]) => string | undefined;
}

/** `make` begins each run anew. */
export function playInProcess(make: () => Played): Play {
  return async (choose) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { works, check } = make();
      const run = await runSchedule(works, choose, PROCESS);
      return { ...run, violation: findFailure(run.outcomes) ?? check(run.outcomes) };
    } finally {
      vi.useRealTimers();
    }
  };
}

/** Lets time pass, each tick as a step. */
export const clock = (ticks: number, ms: number) => async (actor: Actor) => {
  for (let at = 0; at < ticks; at += 1) {
    await actor.step(`${ms} ms pass`, async () => {
      vi.advanceTimersByTime(ms);
    });
  }
};
