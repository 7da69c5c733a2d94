/**
 * `npm run mutants`: makes small mistakes in the code that money and admission depend on, one at a
 * time, and reports which of them no test notices. It runs in a copy of the working tree.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Language, Rule } from '../sdk/conformance/mutants.ts';
import { startEmbedded } from '../src/run/embedded-postgres/embedded-postgres.ts';
import { openScratch } from '../test/support/scratch.ts';
import { findChanges } from './mutants/code-changes.ts';
import { chooseMutants, type Mutant, makeMutant } from './mutants/mutant.ts';
import { findRelatedTests, type Imports, readImports } from './mutants/related-tests.ts';
import { type Result, renderProgress, renderReport, summarize } from './mutants/report.ts';
import { copyWorkingTree, listFiles } from './mutants/scratch-copy.ts';
import { Trial } from './mutants/trial.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src/money', 'src/access', 'src/control/admission', 'src/control/moderation'];
/** Generated tables. A test generates them again and compares. */
const MADE = ['src/access/usernames/tables.ts', 'src/access/usernames/confusables.ts'];
const STANDARD_OUTPUT = '-';

const HELP = `npm run mutants [-- [file or folder ...] [options]]

Mistakes are made in the given files and folders; without one, in
${FOLDERS.map((folder) => `  ${folder}`).join('\n')}

Options:
  --count n     how many mutants; default 150
  --seed n      which ones; the same seed chooses the same mutants; default 1
  --tests n     run only the n test files nearest to a mutant; default: all that load its file
  --silence s   a run in which no test ends for so many seconds has timed out; default 120
  --json file   write the results as JSON too; - writes them to standard output, and nothing else
  --list        only list the mutants
  --sdk name    break the rules of an SDK instead (typescript, go, rust or python), and run the steps of its
                conformance suite; the places are words of rules, default: all
  --help

TEST_DATABASE_URL: a PostgreSQL to use. Without it, one is started for all runs together.
`;

/** A mistake on the command line, reported in one line. */
class UsageError extends Error {}

async function main(argv: readonly string[]): Promise<void> {
  const options = readArguments(argv);
  if (options.help) return void process.stdout.write(HELP);

  if (options.sdk !== undefined) return await trySdk(options.sdk, options);
  const files = listFiles(ROOT).filter((file) => file.endsWith('.ts'));
  const mutants = chooseMutants(findMutants(files, options.places), options.count, options.seed);
  if (mutants.length === 0) throw new UsageError(`nothing can be changed in ${options.places.join(', ')}`);
  if (options.list) return list(mutants);
  const imports = readImports(ROOT, files);
  report(await tryAll(mutants.length, (place) => runTests(place, mutants, imports, options)), options);
}

/** Loaded by its option: the suite has a service of its own. */
async function trySdk(name: string, options: Options): Promise<void> {
  const { RULES, SOURCES } = await import('../sdk/conformance/mutants.ts');
  if (!(name in SOURCES)) throw new UsageError(`--sdk must be one of ${Object.keys(SOURCES).join(', ')}`);
  const language = name as Language;
  const isMeant = ({ rule }: Rule) => options.places.some((words) => rule.includes(words));
  const rules = options.places === FOLDERS ? RULES : RULES.filter(isMeant);
  if (rules.length === 0) throw new UsageError(`no rule has the words ${options.places.join(', ')}`);
  const { breakRule, SdkTrial } = await import('./mutants/sdk.ts');
  if (options.list) return list(rules.map((rule) => breakRule(ROOT, language, rule)));
  const { openWorld } = await import('../sdk/conformance/world.ts');
  const tried = await tryAll(rules.length, async ({ root, signal, unsound, tell }) => {
    const world = await openWorld();
    try {
      const trial = new SdkTrial({ language, root, world });
      unsound.push(...(await trial.findUnsound(rules)));
      for (const rule of rules) {
        signal.throwIfAborted();
        tell(await trial.judge(rule));
      }
    } finally {
      await world.close();
    }
  });
  report(tried, options);
  const isProven = tried.unsound.length === 0 && tried.results.every(({ outcome }) => outcome === 'killed');
  process.exitCode = isProven ? 0 : 1;
}

function list(mutants: readonly Mutant[]): void {
  for (const { file, line, what } of mutants) process.stdout.write(`${file}:${line}  ${what}\n`);
}

interface Tried {
  readonly results: readonly Result[];
  readonly unsound: readonly string[];
}

function report({ results, unsound }: Tried, { seed, count, tests, json: file }: Options): void {
  const json = `${JSON.stringify({ seed, count, tests, ...summarize(results), unsound, results }, null, 2)}\n`;
  process.stdout.write(file === STANDARD_OUTPUT ? json : renderReport(results, unsound));
  if (file !== undefined && file !== STANDARD_OUTPUT) writeFileSync(file, json);
}

function findMutants(files: readonly string[], places: readonly string[]): Mutant[] {
  const isMeant = (file: string) => places.some((place) => file === place || file.startsWith(`${place}/`));
  return files
    .filter((file) => isMeant(file) && !MADE.includes(file))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return findChanges(file, text).map((change) => makeMutant(file, text, change));
    });
}

type Options = ReturnType<typeof readArguments>;

/** Where mutants are tried out, and what is told of them. */
interface Place {
  readonly folder: string;
  /** A copy of the working tree. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** What fails without any mutant. */
  readonly unsound: string[];
  tell(result: Result): void;
}

/** Everything is in one folder, which is removed when this process ends for any reason. */
async function tryAll(count: number, work: (place: Place) => Promise<void>): Promise<Tried> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
  const scratch = openScratch('boxoffice-mutants-');
  const root = join(scratch.folder, 'tree');
  const results: Result[] = [];
  const unsound: string[] = [];
  const tell = (result: Result) => {
    results.push(result);
    process.stderr.write(`${renderProgress(result, results.length, count)}\n`);
  };
  try {
    copyWorkingTree(ROOT, root);
    await work({ folder: scratch.folder, root, signal: interruption.signal, unsound, tell });
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.stderr.write('interrupted\n');
  } finally {
    await scratch.remove();
  }
  return { results, unsound };
}

async function runTests(
  { folder, root, signal, unsound, tell }: Place,
  mutants: readonly Mutant[],
  imports: Imports,
  { silence, tests }: Options,
): Promise<void> {
  const server = await findServer(join(folder, 'server'));
  try {
    const trial = new Trial({ root, databaseUrl: server.url, silenceSeconds: silence, signal });
    for (const mutant of mutants) {
      tell(await trial.judge(mutant, findRelatedTests(mutant.file, imports).slice(0, tests)));
    }
    unsound.push(...trial.unsound);
  } finally {
    await server.stop();
  }
}

async function findServer(dataDir: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const givenUrl = process.env.TEST_DATABASE_URL;
  if (givenUrl !== undefined) return { url: givenUrl, stop: async () => undefined };
  const log = { info: () => undefined, warn: console.warn };
  return startEmbedded({ dataDir, log, durable: false });
}

function readArguments(argv: readonly string[]) {
  const { values, positionals } = parse([...argv]);
  return {
    help: values.help ?? false,
    list: values.list ?? false,
    json: values.json,
    sdk: values.sdk,
    count: readNumber('count', values.count, 150),
    seed: readNumber('seed', values.seed, 1),
    tests: readNumber('tests', values.tests, undefined),
    silence: readNumber('silence', values.silence, 120),
    places: positionals.length > 0 ? positionals.map((place) => place.replace(/\/$/, '')) : FOLDERS,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        count: text,
        seed: text,
        tests: text,
        silence: text,
        json: text,
        sdk: text,
        list: flag,
        help: flag,
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readNumber<T>(name: string, text: string | undefined, otherwise: T): number | T {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--${name} must be a whole number from 1, not ${text}`);
  return Number(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`mutants: ${error.message}\n`);
  process.exitCode = 2;
}
