/** The options of `npm run faults`. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTROLS, type Control } from './controls.ts';
import type { PlanOptions } from './plan.ts';
import { readNumber } from './read-number.ts';

/** Each with what it takes, and its words in the help. */
export const OPTIONS = {
  minutes: ['<number>', 'how long faults happen; then everything is mended and checked (default: 5)'],
  seed: ['<number>', 'the same seed makes the same plan'],
  tenants: ['<number>', 'each has thirteen clients (default: 6)'],
  control: ['<name>', 'break something that the check must find; --list names them'],
  out: ['<file>', 'a file for the report: Markdown, or JSON if its name ends in .json'],
  keep: ['<folder>', 'a folder for the journal, the logs and the database'],
  list: ['', 'the kinds of load, of faults and of controls'],
} as const satisfies Readonly<Record<string, readonly [takes: string, says: string]>>;

const rows = Object.entries(OPTIONS).map(
  ([name, [takes, says]]) => `  ${`--${name} ${takes}`.padEnd(20)}${says}`,
);

export const HELP = `npm run faults -- [options]

${rows.join('\n')}

Controls: ${CONTROLS.map(({ name }) => name).join(', ')}.

Exit code 1: the check found something, or with --control, not what was broken. 2: an option cannot be used, or this machine lacks what it
needs. 3: the campaign did not come to its end, as after Ctrl-C, whatever it found until then.
`;

const MINUTES_DEFAULT = 5;
const TENANTS_DEFAULT = 6;
/** A week. */
const MINUTES_MAX = 10_080;

export interface Options extends PlanOptions {
  readonly control: Control | undefined;
  readonly out: string | undefined;
  readonly keep: string | undefined;
}

/** An option that cannot be used. */
export class Refusal extends Error {}

/** Throws `Refusal`. */
export function readOptions(args: readonly string[]): Options | 'help' | 'list' {
  const values = parse(args);
  if (values.help) return 'help';
  if (values.list) return 'list';
  const { out, keep } = values;
  const control = CONTROLS.find(({ name }) => name === values.control);
  if (values.control !== undefined && control === undefined)
    throw new Refusal(`there is no control ${values.control}: --list names them`);
  const minutes = readNumber(values.minutes, control?.minutes ?? MINUTES_DEFAULT, {
    min: 0.1,
    max: MINUTES_MAX,
  });
  if (minutes === undefined) throw new Refusal(`--minutes: a number from 0.1 to ${MINUTES_MAX}`);
  const seed = readNumber(values.seed, Date.now() % 1_000_000, { min: 0, isWhole: true });
  if (seed === undefined) throw new Refusal('--seed: a whole number from 0 on');
  const tenants = readNumber(values.tenants, TENANTS_DEFAULT, { min: 1, isWhole: true });
  if (tenants === undefined) throw new Refusal('--tenants: a whole number from 1 on');
  if (out !== undefined && !existsSync(dirname(out)))
    throw new Refusal(`--out: there is no folder ${dirname(out)}`);
  if (keep !== undefined && existsSync(keep)) throw new Refusal(`--keep: ${keep} exists already`);
  return { minutes, seed, tenants, control, out, keep };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...{ minutes: text, seed: text, tenants: text, control: text, out: text, keep: text },
        ...{ list: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      },
    });
    return values;
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}
