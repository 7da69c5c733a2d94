/** `npm run faults`: load of every kind while everything fails, and a check of what is left. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { CONTROLS } from './controls.ts';
import { FAULTS } from './inject/faults.ts';
import { KINDS } from './load/kinds.ts';
import { readNumber } from './read-number.ts';
import { isAsExpected, renderJson, renderMarkdown } from './report.ts';

const HELP = `npm run faults -- [--minutes 5] [--seed <number>] [--tenants 6] [--control <name>] [--out <file>] [--keep <folder>] [--list]

  --minutes   how long faults happen; then everything is mended and checked
  --seed      the same seed makes the same plan
  --tenants   each has thirteen clients
  --control   break something that the check must find; --list names them
  --out       a file for the report: Markdown, or JSON if its name ends in .json
  --keep      a folder for the journal, the logs and the database
  --list      the kinds of load, of faults and of controls

Controls: ${CONTROLS.map(({ name }) => name).join(', ')}.

Exit code 1: the check found something, or with --control, not what was broken. 2: an option cannot be used.
`;

const MINUTES_DEFAULT = 5;
const TENANTS_DEFAULT = 6;
/** A week. */
const MINUTES_MAX = 10_080;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      tenants: { type: 'string' },
      control: { type: 'string' },
      out: { type: 'string' },
      keep: { type: 'string' },
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return say(HELP);
  if (values.list) return say(list());
  const control = CONTROLS.find(({ name }) => name === values.control);
  if (values.control !== undefined && control === undefined)
    return refuse(`there is no control ${values.control}: --list names them`);
  const minutes = readNumber(values.minutes, control?.minutes ?? MINUTES_DEFAULT, {
    min: 0.1,
    max: MINUTES_MAX,
  });
  if (minutes === undefined) return refuse(`--minutes: a number from 0.1 to ${MINUTES_MAX}`);
  const seed = readNumber(values.seed, Date.now() % 1_000_000, { min: 0, isWhole: true });
  if (seed === undefined) return refuse('--seed: a whole number from 0 on');
  const tenants = readNumber(values.tenants, TENANTS_DEFAULT, { min: 1, isWhole: true });
  if (tenants === undefined) return refuse('--tenants: a whole number from 1 on');
  if (values.out !== undefined && !existsSync(dirname(values.out)))
    return refuse(`--out: there is no folder ${dirname(values.out)}`);
  if (values.keep !== undefined && existsSync(values.keep))
    return refuse(`--keep: ${values.keep} exists already`);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const report = await runCampaign({
    ...{ minutes, seed, tenants },
    control,
    keep: values.keep,
    progress,
    interrupted: interrupted.signal,
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  process.stdout.write(`${renderMarkdown(report)}\n`);
  if (values.out !== undefined)
    writeFileSync(values.out, values.out.endsWith('.json') ? renderJson(report) : renderMarkdown(report));
  return isAsExpected(report) ? 0 : 1;
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function refuse(why: string): number {
  process.stderr.write(`${why}\n`);
  return 2;
}

function list(): string {
  const lines = (title: string, names: readonly string[]) =>
    `${title}\n${[...new Set(names)].map((name) => `  ${name}\n`).join('')}`;
  return [
    lines(
      'Load',
      KINDS.map(({ name }) => name),
    ),
    lines(
      'Faults',
      FAULTS.map(({ name }) => name),
    ),
    lines(
      'Controls',
      CONTROLS.map(({ name, summary }) => `${name}: ${summary}`),
    ),
  ].join('\n');
}

/** One line, which is written over on a terminal. */
function progress(line: string): void {
  if (!process.stderr.isTTY) return void process.stderr.write(`${line}\n`);
  process.stderr.write(`\r\u001b[K${line.slice(0, process.stderr.columns - 1)}`);
}

process.exitCode = await main();
