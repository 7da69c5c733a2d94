/** `npm run faults`: load of every kind while everything fails, and a check of what is left. */
import { writeFileSync } from 'node:fs';
import { planCampaign, runCampaign } from './campaign.ts';
import { CONTROLS } from './controls.ts';
import { exitCodeOfAll, renderTried, tryControls } from './controls-in-turn.ts';
import { readVersion } from './environment.ts';
import { FAULTS } from './inject/faults.ts';
import { judge } from './judge.ts';
import { readKeptReport, serveKept } from './kept.ts';
import { KINDS } from './load/kinds.ts';
import { HELP, type Options, Refusal, type RunOptions, readOptions } from './options.ts';
import { Progress } from './progress.ts';
import { emptyReport, type Report, renderEnd, renderJson, renderMarkdown } from './report.ts';
import { Missing } from './stage/gone.ts';
import { LeftBehind, removeLeftBehind } from './stage/left-behind.ts';
import { exitCodeOf, NOT_SHOWN } from './verdict.ts';

const REFUSED = 2;
/** Signals that come so soon after another are one. */
const SAME_MS = 3_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<number> {
  try {
    return await obey(readOptions(process.argv.slice(2)));
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    throw error;
  }
}

async function obey(options: Options): Promise<number> {
  switch (options.command) {
    case 'help':
      return say(HELP);
    case 'list':
      return say(list());
    case 'controls':
      return await tryAll(options.args, options.out);
    case 'check':
      return await checkAgain(options.folder, options.out);
    case 'run':
      return await run(options);
  }
}

async function run({ control, out, keep, ...options }: RunOptions): Promise<number> {
  const plan = planCampaign(options, control);
  // A campaign that is killed leaves this, and not the report of an earlier one.
  write(out, emptyReport(plan, control, 'it is under way, or was killed'));
  process.once('uncaughtException', (error) => {
    process.exit(end(emptyReport(plan, control, `the campaign itself failed: ${error.message}`), out));
  });
  const [progress, left] = begin();
  try {
    const interrupted = interruption('what there is will be checked; another signal ends that, too');
    return end(await runCampaign(plan, { control, keep, progress, left, interrupted }), out);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    write(out, emptyReport(plan, control, error.message));
    return refuse(`--control ${control!.name}: ${error.message}`);
  } finally {
    progress.end();
  }
}

/** The same campaign with another check: what the campaign itself has found stays as it was. */
async function checkAgain(folder: string, out: string | undefined): Promise<number> {
  const kept = readKeptReport(folder);
  const [progress, left] = begin();
  for (const name of SIGNALS) process.on(name, () => process.exit(NOT_SHOWN));
  progress.begin('starting a copy of the database, and a service');
  const report = { ...kept, checkedBy: readVersion() };
  try {
    const { problems, ...judgement } = await serveKept(folder, left, (campaign) => judge(campaign, progress));
    return end({ ...report, ...judgement, problems: [...kept.foundBefore, ...problems] }, out);
  } catch (error) {
    return end({ ...report, cutShort: `the check itself failed: ${(error as Error).message}` }, out);
  } finally {
    progress.end();
  }
}

async function tryAll(args: readonly string[], out: string | undefined): Promise<number> {
  const tried = await tryControls(args, interruption('the control under way is the last one'));
  const table = renderTried(tried);
  if (out !== undefined)
    writeFileSync(out, out.endsWith('.json') ? `${JSON.stringify(tried, null, 2)}\n` : `${table}\n`);
  process.stdout.write(`${table}\n`);
  return exitCodeOfAll(tried);
}

/** After what a campaign of before has left behind is gone. However this process ends, it leaves nothing. */
function begin(): [Progress, LeftBehind] {
  const count = removeLeftBehind();
  if (count > 0) process.stderr.write(`removed what ${count} campaigns had left behind that were killed\n`);
  const left = new LeftBehind();
  process.on('exit', () => left.remove());
  return [new Progress(writeProgress), left];
}

function end(report: Report, out: string | undefined): number {
  if (process.stderr.isTTY) process.stderr.write('\n');
  process.stdout.write(`${renderMarkdown(report)}\n`);
  write(out, report);
  process.stderr.write(`\n${renderEnd(report)}\n`);
  return exitCodeOf(report);
}

function write(out: string | undefined, report: Report): void {
  if (out !== undefined)
    writeFileSync(out, out.endsWith('.json') ? renderJson(report) : renderMarkdown(report));
}

/** Another signal ends the process at once, but not one that comes along with the first: npm and a terminal both send them. */
function interruption(says: string): AbortSignal {
  const interrupted = new AbortController();
  let firstMs = 0;
  const interrupt = (name: string) => {
    if (interrupted.signal.aborted && performance.now() - firstMs > SAME_MS) process.exit(NOT_SHOWN);
    if (interrupted.signal.aborted) return;
    firstMs = performance.now();
    process.stderr.write(`\n${name}: ${says}\n`);
    interrupted.abort(name);
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  // The process that tries all controls has gone.
  process.once('disconnect', () => interrupt('SIGHUP'));
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
function writeProgress(line: string): void {
  if (!process.stderr.isTTY) return void process.stderr.write(`${line}\n`);
  process.stderr.write(`\r\u001b[K${line.slice(0, process.stderr.columns - 1)}`);
}

// What a campaign that failed left running ends with this process.
process.exit(await main());
