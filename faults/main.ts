/** `npm run faults`: load of every kind while everything fails, and a check of what is left. */
import { writeFileSync } from 'node:fs';
import { planCampaign, runCampaign } from './campaign.ts';
import { CONTROLS } from './controls.ts';
import { FAULTS } from './inject/faults.ts';
import { KINDS } from './load/kinds.ts';
import { HELP, type Options, Refusal, readOptions } from './options.ts';
import { emptyReport, type Report, renderJson, renderMarkdown } from './report.ts';
import { Missing } from './stage/gone.ts';
import { CUT_SHORT, exitCodeOf } from './verdict.ts';

const REFUSED = 2;
/** Signals that come so soon after another are one. */
const SAME_MS = 3_000;

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === 'help') return say(HELP);
    if (options === 'list') return say(list());
    return await run(options);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    throw error;
  }
}

async function run({ control, out, keep, ...options }: Options): Promise<number> {
  const plan = planCampaign(options, control);
  const write = (report: Report) => {
    if (out !== undefined)
      writeFileSync(out, out.endsWith('.json') ? renderJson(report) : renderMarkdown(report));
  };
  // A campaign that is killed leaves this, and not the report of an earlier one.
  write(emptyReport(plan, control, 'it is under way, or was killed'));
  const end = (report: Report): number => {
    if (process.stderr.isTTY) process.stderr.write('\n');
    process.stdout.write(`${renderMarkdown(report)}\n`);
    write(report);
    return exitCodeOf(report);
  };
  process.once('uncaughtException', (error) => {
    process.exit(end(emptyReport(plan, control, `the campaign itself failed: ${error.message}`)));
  });
  try {
    return end(await runCampaign(plan, { control, keep, progress, interrupted: interruption() }));
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    write(emptyReport(plan, control, error.message));
    return refuse(`--control ${control!.name}: ${error.message}`);
  }
}

/** Another signal ends the process at once, but not one that comes along with the first: npm and a terminal both send them. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  let firstMs = 0;
  const interrupt = (name: NodeJS.Signals) => {
    if (interrupted.signal.aborted && performance.now() - firstMs > SAME_MS) process.exit(CUT_SHORT);
    if (interrupted.signal.aborted) return;
    firstMs = performance.now();
    process.stderr.write(`\n${name}: what there is will be checked; another signal ends that, too\n`);
    interrupted.abort(name);
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  return interrupted.signal;
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function refuse(why: string): number {
  process.stderr.write(`${why}\n`);
  return REFUSED;
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
      CONTROLS.map(({ name, summary, foundBy }) => `${name}: ${summary}; found by: ${foundBy.join('; ')}`),
    ),
  ].join('\n');
}

/** One line, which is written over on a terminal. */
function progress(line: string): void {
  if (!process.stderr.isTTY) return void process.stderr.write(`${line}\n`);
  process.stderr.write(`\r\u001b[K${line.slice(0, process.stderr.columns - 1)}`);
}

// What a campaign that failed left running ends with this process.
process.exit(await main());
