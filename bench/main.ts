/** `npm run bench`: runs benchmarks, prints their results, and optionally writes them as JSON. */
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { archives } from './archive.ts';
import { archiveBegins } from './archive-begins.ts';
import { archiveSizes } from './archive-sizes.ts';
import type { Benchmark, Peer, Result } from './benchmark.ts';
import { budget } from './budget.ts';
import { budgetMint } from './budget-mint.ts';
import { budgets } from './budgets.ts';
import { consolePages } from './console-pages.ts';
import { costs } from './costs.ts';
import { curve } from './curve.ts';
import { distributed, distributedCosts } from './distributed.ts';
import { distributedMove } from './distributed-move.ts';
import { failover } from './failover.ts';
import { firstCharge } from './first-charge.ts';
import { flat } from './flat.ts';
import { grants } from './grants.ts';
import { growth } from './growth.ts';
import { guards } from './guard.ts';
import { guardsOf, type Judgement, judge, readGuards, renderJudgements, writeGuards } from './guard-judge.ts';
import { join } from './join.ts';
import { keysGarbage } from './keys-garbage.ts';
import { keysRoute } from './keys-route.ts';
import { keysVerify } from './keys-verify.ts';
import { knownIds } from './known-ids.ts';
import { ledgerReads } from './ledger-reads.ts';
import { mint } from './mint.ts';
import { reads } from './reads.ts';
import { relayMedia } from './relay-media.ts';
import { relayPush } from './relay-push.ts';
import { describeMachine, renderReport } from './report.ts';
import { runBenchmark } from './run.ts';
import { sessions } from './sessions.ts';
import { start } from './start.ts';
import { timeZones } from './time-zones.ts';
import { usageCases } from './usage-cases.ts';
import { usageFloors } from './usage-floors.ts';
import { usageHot } from './usage-hot.ts';
import { usageLarge } from './usage-large.ts';
import { usageSmall } from './usage-small.ts';
import { watchdogs } from './watchdogs.ts';
import { webhooks } from './webhooks.ts';
import { workers } from './workers.ts';
import { workersRouted } from './workers-routed.ts';

const BENCHMARKS: readonly Benchmark[] = [
  usageLarge,
  usageSmall,
  usageFloors,
  usageHot,
  usageCases,
  knownIds,
  archives,
  archiveBegins,
  archiveSizes,
  flat,
  growth,
  ledgerReads,
  timeZones,
  grants,
  sessions,
  consolePages,
  budget,
  budgets,
  budgetMint,
  keysRoute,
  keysGarbage,
  keysVerify,
  join,
  mint,
  reads,
  costs,
  curve,
  watchdogs,
  webhooks,
  relayPush,
  start,
  firstCharge,
  workers,
  workersRouted,
  failover,
  distributed,
  distributedCosts,
  distributedMove,
  relayMedia,
  ...guards,
];

const GUARD_NAMES = guards.map(({ name }) => name);

const ROUNDS_DEFAULT = 7;
const ROUNDS_MIN = 5;
const STANDARD_OUTPUT = '-';

const INTERRUPTS = ['SIGINT', 'SIGTERM'] as const;
type Interrupt = (typeof INTERRUPTS)[number];
/** npm hands on what the terminal or `timeout` sends to this process as well. */
const SAME_INTERRUPT_MS = 1_000;

/** A mistake on the command line, reported in one line. */
class UsageError extends Error {}
class Interrupted extends Error {
  readonly signal: Interrupt;

  constructor(signal: Interrupt) {
    super('interrupted');
    this.signal = signal;
  }
}

/** Returns the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const options = readArguments(argv);
  if (options.help) {
    process.stdout.write(renderHelp());
    return 0;
  }
  const areGuards = options.benchmarks.some(({ isGuard }) => isGuard);
  const committed = areGuards ? await readGuards(GUARD_NAMES) : {};
  const results: Result[] = [];
  try {
    for (const benchmark of options.benchmarks) {
      const rounds = options.rounds ?? benchmark.rounds ?? ROUNDS_DEFAULT;
      const measured = (result: Result) => void results.push(result);
      await runBenchmark(benchmark, { ...options, rounds, progress, interrupted, measured });
    }
  } finally {
    // What was measured before a failure or an interrupt is not lost.
    await publish(results, options.json);
  }
  if (!areGuards) return 0;
  const measured = guardsOf(results.filter(({ name }) => GUARD_NAMES.includes(name)));
  if (options.update) {
    await writeGuards({ ...committed, ...measured });
    return 0;
  }
  return report(judge(measured, committed), options.json === STANDARD_OUTPUT);
}

/** Print the results, and write them as JSON if that is asked for. */
async function publish(results: readonly Result[], file: string | undefined): Promise<void> {
  clearProgress();
  const machine = describeMachine();
  const json = `${JSON.stringify({ machine, results }, null, 2)}\n`;
  process.stdout.write(file === STANDARD_OUTPUT ? json : renderReport(machine, results));
  if (file !== undefined && file !== STANDARD_OUTPUT) await writeFile(file, json);
}

/** Returns 1 if a ratio got worse. Where standard output is JSON, the lines go to standard error. */
function report(judgements: readonly Judgement[], isJson: boolean): 0 | 1 {
  const stream = isJson ? process.stderr : process.stdout;
  stream.write(`\n${renderJudgements(judgements)}`);
  return judgements.some(({ isWorse }) => isWorse) ? 1 : 0;
}

function readArguments(argv: readonly string[]) {
  const { values, positionals } = parse(withJsonTarget(argv));
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < ROUNDS_MIN)) {
    throw new UsageError(`--rounds must be a whole number from ${ROUNDS_MIN}, not ${values.rounds}`);
  }
  const benchmarks = choose(positionals);
  if (values.update && !benchmarks.some(({ isGuard }) => isGuard)) {
    throw new UsageError('--update is for guards');
  }
  return {
    help: values.help ?? false,
    json: values.json,
    update: values.update ?? false,
    rounds,
    peers: (values.peer ?? []).map(parsePeer),
    benchmarks,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'string' },
        rounds: { type: 'string' },
        update: { type: 'boolean' },
        peer: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** `--json` without a file name means standard output. */
function withJsonTarget(argv: readonly string[]): string[] {
  return argv.map((argument, at) => {
    const next = argv[at + 1];
    const isAlone = next === undefined || next.startsWith('-') || isKnown(next);
    return argument === '--json' && isAlone ? `--json=${STANDARD_OUTPUT}` : argument;
  });
}

function choose(names: readonly string[]): readonly Benchmark[] {
  if (names.length === 0) return BENCHMARKS.filter(({ isGuard, isByNameOnly }) => !isGuard && !isByNameOnly);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw new UsageError(`there is no benchmark ${unknown}`);
  return BENCHMARKS.filter((benchmark) => names.some((name) => isCalled(benchmark, name)));
}

function isKnown(name: string): boolean {
  return BENCHMARKS.some((benchmark) => isCalled(benchmark, name));
}

/** By its name or, unless another has just that, by what it begins with. */
function isCalled({ name }: Benchmark, asked: string): boolean {
  const isName = BENCHMARKS.some((benchmark) => benchmark.name === asked);
  return name === asked || (!isName && name.startsWith(`${asked}-`));
}

function parsePeer(text: string): Peer {
  const [, name, address] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const url = URL.parse(address ?? '');
  if (name === undefined || url?.protocol !== 'http:') {
    throw new UsageError(`--peer must be name=http://host:port, not ${text}`);
  }
  return { name, url: url.origin, token: process.env.BENCH_PEER_TOKEN };
}

function renderHelp(): string {
  const width = Math.max(...BENCHMARKS.map(({ name }) => name.length));
  const lines = BENCHMARKS.map(({ name, summary, minutes, takesPeers, isByNameOnly }) => {
    const notes = [
      ...(minutes === undefined ? [] : [`about ${minutes} min`]),
      ...(takesPeers ? ['takes peers'] : []),
      ...(isByNameOnly ? ['by name only'] : []),
    ];
    return `  ${name.padEnd(width)}  ${summary}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  });
  return `npm run bench [-- [name ...] [options]]

Benchmarks; without a name, all of them but the longest, those of distributed databases, and the guards: an hour or two. Minutes, where they
were measured, are those on two cores with the default of rounds; each result says how long it took. SIGINT and SIGTERM print what was measured until then.
${lines.join('\n')}

Options:
  --rounds n        counted rounds of each, at least ${ROUNDS_MIN}; default ${ROUNDS_DEFAULT}, or what the benchmark says
  --json [file]     write the results as JSON, to standard output without a file
  --peer name=url   another server to compare with, where a benchmark takes peers; repeat for more.
                    The bearer token it wants: BENCH_PEER_TOKEN
  --update          write what the guards measure to bench/guard.json, instead of comparing with it
  --help            this text
`;
}

const isTerminal = process.stderr.isTTY;
let told = '';

/** On a terminal, one line that is updated. Elsewhere, one line per step, without its rounds. */
function progress(text: string): void {
  const line = isTerminal ? text : text.replace(/: round .*/, '');
  if (line === told) return;
  told = line;
  process.stderr.write(
    isTerminal ? `\r\x1b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${line}\n`,
  );
}

function clearProgress(): void {
  if (isTerminal) process.stderr.write('\r\x1b[K');
}

/** The first interrupt prints what was measured, and closes what is open. Another one later ends at once. */
const interrupted = new Promise<never>((_, reject) => {
  let since: number | undefined;
  for (const signal of INTERRUPTS) {
    process.on(signal, () => {
      since ??= performance.now();
      if (performance.now() - since > SAME_INTERRUPT_MS) process.exit(1);
      reject(new Interrupted(signal));
    });
  }
});
interrupted.catch(() => {});

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    clearProgress();
    if (error instanceof Interrupted) {
      process.stderr.write('interrupted\n');
      process.exit(128 + constants.signals[error.signal]);
    }
    const text = error instanceof UsageError ? `${error.message}; see --help` : (error as Error).stack;
    process.stderr.write(`${text}\n`);
    process.exit(1);
  },
);
