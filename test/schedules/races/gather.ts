/** Questions that are gathered into statements: each is answered, and statements keep to their number. */
import pg from 'pg';
import * as module from '../../../src/base/db/gather.ts';
import { Connections, inProcess, type Played } from '../support/in-process.ts';

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

/** The first statement with a question of `a` waits for a lock too long. */
function gathered({ Gather }: Pick<typeof module, 'Gather'>): Played {
  const connections = new Connections();
  const faults: string[] = [];
  const underWay = new Set<{ readonly since: number }>();
  let isLocked = true;
  const answer = async (words: readonly string[]): Promise<string[]> => {
    const own = { since: performance.now() };
    const quick = [...underWay].filter(({ since }) => own.since - since < SLOW_MS).length;
    if (quick >= STATEMENTS + IN_LANE) faults.push(`${quick + 1} statements are under way`);
    const keys = words.map((word) => word[0]);
    if (new Set(keys).size < keys.length) faults.push(`a statement has one key twice: ${words}`);
    underWay.add(own);
    const mustFail = isLocked && keys.includes('a');
    if (mustFail) isLocked = false;
    return connections.send(`${mustFail ? 'fail' : 'answer'} ${words}`, async () => {
      underWay.delete(own);
      if (mustFail) throw Object.assign(new pg.DatabaseError('locked', 0, 'error'), { code: '55P03' });
      return words.map((word) => word.toUpperCase());
    });
  };
  const gather = new Gather(answer, { nameOf: (word) => word[0]!, statements: STATEMENTS });
  const works = connections.serve({
    questions: QUESTIONS,
    ask: (word) => gather.ask(word),
    hear: (words, answers) => {
      if (answers.join() !== words.join().toUpperCase()) faults.push(`${words} got ${answers}`);
    },
    tickMs: 60,
  });
  return { works, check: () => faults[0] };
}

export const GATHER = inProcess(
  { part: 'gather', scenario: 'questions that are gathered', file: 'src/base/db/gather.ts', module },
  gathered,
  [
    { name: 'a slow statement that ends makes place twice', from: 'if (!isHeld) return;', to: '' },
    {
      name: 'a question is lost that came while its key was asked again',
      from: 'this.#waiting.unshift(...again.items.splice(0));',
      to: '',
    },
  ],
);
