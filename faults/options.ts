/** The options of `npm run faults`. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTROLS, type Control } from './controls.ts';
import { findLacking } from './kept-files.ts';
import type { PlanOptions } from './plan.ts';
import { readNumber } from './read-number.ts';

/** Each with what it takes, and its words in the help. */
export const OPTIONS = {
  minutes: ['<number>', 'how long faults happen; then everything is mended and checked (default: 5)'],
  seed: ['<number>', 'the same seed makes the same plan'],
  tenants: ['<number>', 'each has fourteen clients (default: 6)'],
  control: ['<name>', 'break something that the check must find; --list names them'],
  controls: ['', 'all controls, one after another, as a table; with --minutes, --seed, --tenants, --out'],
  keep: ['<folder>', 'a new folder for the journal, the logs, the database, and what --check needs'],
  check: ['<folder>', 'judge what --keep has kept again, without any load; with --out'],
  out: ['<file>', 'a file for the report: Markdown, or JSON if its name ends in .json'],
  list: ['', 'the kinds of load, of faults and of controls'],
} as const satisfies Readonly<Record<string, readonly [takes: string, says: string]>>;

type Name = keyof typeof OPTIONS;

/** What each exit code means. */
export const EXIT_CODES = [
  'nothing is wrong, or the control was found, or with --controls, all were',
  'something is wrong, or the control was not found, or with --controls, one was not',
  'an option cannot be used, or this machine lacks what the control needs',
  'too little was shown: it was interrupted or failed itself, no fault met anything, next to nothing was charged, or a rule compared nothing',
];

const rows = Object.entries(OPTIONS).map(
  ([name, [takes, says]]) => `  ${`--${name} ${takes}`.padEnd(20)}${says}`,
);

export const HELP = `npm run faults -- [options]

${rows.join('\n')}

Controls: ${CONTROLS.map(({ name }) => name).join(', ')}.

Exit codes:
${EXIT_CODES.map((meaning, code) => `  ${code}  ${meaning}`).join('\n')}

The report begins with the verdict. What this machine cannot show is under "Not looked at", and at the end of the console: a loss of power and
a full disk need root and 4 GiB, a wrong clock of PostgreSQL needs Debian's faketime, and histories need Go 1.24.

--keep writes the keys of the campaign's tenants to keys.json, which only its owner can read. A problem then names lines of the journal.
Ctrl-C ends faults and checks what there is; another one ends that, too, and leaves nothing behind. What a killed campaign leaves is removed
by the next one.
`;

const MINUTES_DEFAULT = 5;
const TENANTS_DEFAULT = 6;
/** A week. */
const MINUTES_MAX = 10_080;
const SEED_MAX = 2 ** 32 - 1;
/** More than a machine serves. */
const TENANTS_MAX = 100;

/** What may stand beside an option that is a command of its own. */
const BESIDE: Readonly<Partial<Record<Name, readonly Name[]>>> = {
  check: ['out'],
  controls: ['minutes', 'seed', 'tenants', 'out'],
};

export interface RunOptions extends PlanOptions {
  readonly control: Control | undefined;
  readonly out: string | undefined;
  readonly keep: string | undefined;
}

export type Options =
  | { readonly command: 'help' | 'list' }
  | { readonly command: 'check'; readonly folder: string; readonly out: string | undefined }
  /** `args`: for each of their campaigns. */
  | { readonly command: 'controls'; readonly args: readonly string[]; readonly out: string | undefined }
  | ({ readonly command: 'run' } & RunOptions);

/** An option that cannot be used. */
export class Refusal extends Error {}

/** Throws `Refusal`. */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  if (values.help) return { command: 'help' };
  if (values.list) return { command: 'list' };
  refuseMixture(values);
  const { out } = values;
  if (out !== undefined) assertWritable('--out', out);
  if (values.check !== undefined) return { command: 'check', folder: readKeptFolder(values.check), out };
  const options = readRun(values);
  if (!values.controls) return { command: 'run', ...options };
  const { seed, tenants } = options;
  const minutes = values.minutes === undefined ? [] : ['--minutes', `${options.minutes}`];
  return { command: 'controls', args: [...minutes, '--seed', `${seed}`, '--tenants', `${tenants}`], out };
}

type Values = ReturnType<typeof parse>;

function readRun(values: Values): RunOptions {
  const { out, keep } = values;
  const control = CONTROLS.find(({ name }) => name === values.control);
  if (values.control !== undefined && control === undefined)
    throw new Refusal(`there is no control ${values.control}: --list names them`);
  const minutes = readNumber(values.minutes, control?.minutes ?? MINUTES_DEFAULT, {
    min: 0.1,
    max: MINUTES_MAX,
  });
  if (minutes === undefined) throw new Refusal(`--minutes: a number from 0.1 to ${MINUTES_MAX}`);
  const whole = { isWhole: true } as const;
  const seed = readNumber(values.seed, Date.now() % 1_000_000, { min: 0, max: SEED_MAX, ...whole });
  if (seed === undefined) throw new Refusal(`--seed: a whole number from 0 to ${SEED_MAX}`);
  const tenants = readNumber(values.tenants, TENANTS_DEFAULT, { min: 1, max: TENANTS_MAX, ...whole });
  if (tenants === undefined) throw new Refusal(`--tenants: a whole number from 1 to ${TENANTS_MAX}`);
  if (keep !== undefined) assertNew('--keep', keep);
  return { minutes, seed, tenants, control, out, keep };
}

function refuseMixture(values: Values): void {
  for (const [name, allowed] of Object.entries(BESIDE)) {
    if (values[name as Name] === undefined) continue;
    const other = Object.keys(values).find((each) => each !== name && !allowed.includes(each as Name));
    if (other !== undefined) throw new Refusal(`--${other} does not fit with --${name}`);
  }
}

function readKeptFolder(folder: string): string {
  if (!existsSync(folder)) throw new Refusal(`--check: there is no folder ${folder}`);
  const lacking = findLacking(folder);
  if (lacking !== undefined)
    throw new Refusal(`--check: ${folder} has no ${lacking}, so --keep did not make it, or not to its end`);
  return folder;
}

function assertNew(option: string, path: string): void {
  if (existsSync(path)) throw new Refusal(`${option}: ${path} exists already`);
  assertParent(option, path);
}

function assertWritable(option: string, path: string): void {
  if (!existsSync(path)) assertParent(option, path);
  else if (statSync(path).isDirectory()) throw new Refusal(`${option}: ${path} is a folder`);
  else if (!isWritable(path)) throw new Refusal(`${option}: ${path} cannot be written`);
}

function assertParent(option: string, path: string): void {
  const parent = dirname(resolve(path));
  if (!existsSync(parent) || !statSync(parent).isDirectory())
    throw new Refusal(`${option}: there is no folder ${parent}`);
  if (!isWritable(parent)) throw new Refusal(`${option}: ${parent} cannot be written`);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function parse(args: readonly string[]) {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  try {
    const { values } = parseArgs({
      args: withNegatives(args),
      options: {
        ...{ minutes: text, seed: text, tenants: text, control: text, out: text, keep: text, check: text },
        ...{ controls: flag, list: flag, help: { ...flag, short: 'h' } },
      },
    });
    const empty = Object.entries(values).find(([, value]) => value === '');
    if (empty) throw new Error(`--${empty[0]}: a value is missing`);
    return values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message.replaceAll('\n', ' ')}: --help lists the options`);
  }
}

/** `--minutes -1` as `--minutes=-1`, which is refused for what it says. */
function withNegatives(args: readonly string[]): string[] {
  return args.flatMap((each, at) => {
    const next = args[at + 1];
    if (each.startsWith('--') && next !== undefined && /^-\d/.test(next)) return [`${each}=${next}`];
    return /^-\d/.test(each) && args[at - 1]?.startsWith('--') ? [] : [each];
  });
}
