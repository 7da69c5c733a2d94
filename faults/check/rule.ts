/** A rule of the checker, and how one is run. */
import type { Facts } from './facts.ts';

/** What a rule tells while it looks. */
export interface Look {
  /** So many things were compared. A rule that looked at nothing has shown nothing. */
  at(count?: number): void;
  wrong(line: string): void;
  /** Something could not be looked at. */
  leaveOut(why: string): void;
}

export interface Rule {
  /** What must be true, as a sentence. */
  readonly name: string;
  check(facts: Facts, look: Look): Promise<void> | void;
}

export interface Verdict {
  /** `<rule>: <what is wrong>`, a line each, and how many more there are. */
  readonly problems: readonly string[];
  /** How many things each rule compared. */
  readonly looked: Readonly<Record<string, number>>;
  /** `<rule>: <why>`. */
  readonly leftOut: readonly string[];
}

/** Lines of one rule. */
const LINES_MAX = 5;

/** A rule that throws is a problem, too: what it would have found is not known. */
export async function runRules(
  rules: readonly Rule[],
  facts: Facts,
  tell = (_what: string) => {},
): Promise<Verdict> {
  const problems: string[] = [];
  const looked: Record<string, number> = {};
  const leftOut: string[] = [];
  for (const [at, { name, check }] of rules.entries()) {
    tell(`rule ${at + 1} of ${rules.length}: ${name}`);
    const lines: string[] = [];
    let wrong = 0;
    looked[name] = 0;
    const look: Look = {
      at: (count = 1) => {
        looked[name]! += count;
      },
      wrong: (line) => {
        wrong += 1;
        if (lines.length < LINES_MAX) lines.push(line);
      },
      leaveOut: (why) => leftOut.push(`${name}: ${why}`),
    };
    try {
      await check(facts, look);
    } catch (error) {
      look.wrong(`the check failed: ${(error as Error).message}`);
      if (lines.length === LINES_MAX) lines[LINES_MAX - 1] = `the check failed: ${(error as Error).message}`;
    }
    problems.push(...lines.map((line) => `${name}: ${line}`));
    if (wrong > lines.length) problems.push(`${name}: and ${wrong - lines.length} more`);
  }
  return { problems, looked, leftOut };
}
