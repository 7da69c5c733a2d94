/** Questions that are gathered into statements: each is answered, and statements keep to their number. */
import pg from 'pg';
import type * as product from '../../../src/base/db/gather.ts';
import type { Actor } from '../support/actor.ts';
import { clock, type Played } from '../support/in-process.ts';
import type { Edit } from '../support/mutated.ts';

export const GATHER_FILE = 'src/base/db/gather.ts';

export type GatherModule = Pick<typeof product, 'Gather'>;

const STATEMENTS = 2;
/** A statement that takes longer no longer counts. */
const SLOW_MS = 100;
/** What is asked again has a statement of its own beside them. */
const IN_LANE = 1;
/** What each asker asks. The letter is the key. */
const QUESTIONS = [
  ['a1', 'b1', 'a3'],
  ['a2', 'c1', 'b2'],
];

/** Askers, two connections that answer, and a clock. The first statement with a question of `a` waits for a lock too long. */
export function questions({ Gather }: GatherModule): Played {
  const connections: Actor[] = [];
  const faults: string[] = [];
  const begun = new Map<number, number>();
  let sent = 0;
  let isLocked = true;
  const answer = async (words: readonly string[]): Promise<string[]> => {
    const at = sent;
    sent += 1;
    const now = performance.now();
    const quick = [...begun.values()].filter((since) => now - since < SLOW_MS).length;
    if (quick >= STATEMENTS + IN_LANE) faults.push(`${quick + 1} statements are under way`);
    const keys = words.map((word) => word[0]);
    if (new Set(keys).size < keys.length) faults.push(`a statement has one key twice: ${words}`);
    begun.set(at, now);
    const mustFail = isLocked && keys.includes('a');
    if (mustFail) isLocked = false;
    return connections[at % connections.length]!.step(
      `${mustFail ? 'fail' : 'answer'} ${words}`,
      async () => {
        begun.delete(at);
        if (mustFail) throw Object.assign(new pg.DatabaseError('locked', 0, 'error'), { code: '55P03' });
        return words.map((word) => word.toUpperCase());
      },
    );
  };
  const gather = new Gather(answer, { nameOf: (word) => word[0]!, statements: STATEMENTS });
  const askers = QUESTIONS.map((words) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return {
      promise,
      work: async (actor: Actor) => {
        const answers: Promise<string>[] = [];
        for (const word of words)
          await actor.step(`ask ${word}`, async () => void answers.push(gather.ask(word)));
        const answered = await Promise.all(answers);
        if (answered.join() !== words.join().toUpperCase()) faults.push(`${words} got ${answered}`);
        resolve();
      },
    };
  });
  const all = Promise.all(askers.map(({ promise }) => promise));
  const connection = (actor: Actor) => {
    connections.push(actor);
    return all;
  };
  return {
    works: [connection, connection, clock(4, 60), ...askers.map(({ work }) => work)],
    check: () => faults[0],
  };
}

export const GATHER_RACES: readonly { readonly name: string; readonly edit: Edit }[] = [
  {
    name: 'a slow statement that ends makes place twice',
    edit: { file: GATHER_FILE, from: 'if (!isHeld) return;', to: '' },
  },
  {
    name: 'a question is lost that came while its key was asked again',
    edit: { file: GATHER_FILE, from: 'this.#waiting.unshift(...again.items.splice(0));', to: '' },
  },
];
