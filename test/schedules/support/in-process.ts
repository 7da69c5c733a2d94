/** Objects of one process, whose statements and timers end in the chosen order. */
import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Actor } from './actor.ts';
import { type Edit, importEdited } from './mutated.ts';
import { runSchedule } from './run-schedule.ts';
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

type Work = (actor: Actor) => Promise<unknown>;

export interface Played {
  readonly works: readonly Work[];
  readonly check: () => string | undefined;
}

/** A part of the product that is one module, and the only scenario of it. */
export interface InProcess {
  readonly part: string;
  readonly scenario: string;
  readonly play: Play;
  /** Each plays the module without one of its rules. */
  readonly races: readonly { readonly name: string; plant(): Promise<Play> }[];
}

/** A rule that is taken away from the module, or from another one that it imports. */
interface Mistake extends Omit<Edit, 'file'> {
  readonly name: string;
  readonly file?: string;
}

/** `make` begins each run anew, with the module in `file` as it is or edited. */
export function inProcess<Module>(
  { part, scenario, file, module }: Pick<InProcess, 'part' | 'scenario'> & { file: string; module: Module },
  make: (module: Module) => Played,
  mistakes: readonly Mistake[],
): InProcess {
  const playWith = (played: Module): Play => {
    return async (choose) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      try {
        const { works, check } = make(played);
        const run = await runSchedule(works, choose, PROCESS);
        return { ...run, violation: findFailure(run.outcomes) ?? check() };
      } finally {
        vi.useRealTimers();
      }
    };
  };
  const races = mistakes.map(({ name, ...edit }) => ({
    name,
    plant: async () => playWith(await importEdited<Module>(file, { file, ...edit })),
  }));
  return { part, scenario, play: playWith(module), races };
}

/** Lets time pass, each tick as a step. */
const clock = (ticks: number, ms: number) => async (actor: Actor) => {
  for (let at = 0; at < ticks; at += 1) {
    await actor.step(`${ms} ms pass`, async () => {
      vi.advanceTimersByTime(ms);
    });
  }
};

interface Asking<Question, Answer> {
  /** What each asker asks, without waiting for an answer. */
  readonly questions: readonly (readonly Question[])[];
  readonly ask: (question: Question) => Promise<Answer>;
  readonly hear?: (questions: readonly Question[], answers: readonly Answer[]) => void;
  /** A tick of the clock. */
  readonly tickMs: number;
}

/** Two connections, which take statements in turns. There is no database behind them. */
export class Connections {
  readonly #actors: Actor[] = [];
  #sent = 0;

  /** How the statement ends is a step of its connection. */
  send<T>(label: string, end: () => Promise<T>): Promise<T> {
    const actor = this.#actors[this.#sent % this.#actors.length]!;
    this.#sent += 1;
    return actor.step(label, end);
  }

  /** Both of them, a clock of four ticks, and askers. The connections are there until all askers have their answers. */
  serve<Question, Answer>({ questions, ask, hear, tickMs }: Asking<Question, Answer>): Work[] {
    const askers = questions.map((own) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const work = async (actor: Actor) => {
        const answers: Promise<Answer>[] = [];
        for (const question of own)
          await actor.step(`ask ${question}`, async () => void answers.push(ask(question)));
        const all = await Promise.all(answers);
        hear?.(own, all);
        resolve();
      };
      return { promise, work };
    });
    const ended = Promise.all(askers.map(({ promise }) => promise));
    const connection = (actor: Actor) => {
      this.#actors.push(actor);
      return ended;
    };
    return [connection, connection, clock(4, tickMs), ...askers.map(({ work }) => work)];
  }
}
