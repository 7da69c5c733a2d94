/** How soon the service answers after a start, and how much memory it uses when idle. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { makeFolder } from './stand.ts';
import { median } from './statistics.ts';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SECONDS_MAX = 1;
const REST_MB_MAX = 120;
const IDLE_SECONDS = 10;
const ASK_EVERY_MS = 10;
/** The end of what a start that failed had printed. */
const LAST_LINES = 10;

const START = 'npm start';
const FIRST_START = 'first npm start';
const WITHOUT_PAYMENTS = 'npm start, PAYMENTS=none';

/** Resident memory at the first answer, in MB. */
const FIRST_MB_MAX: Readonly<Record<string, number>> = { [START]: 125, [WITHOUT_PAYMENTS]: 120 };

export const start: Benchmark = {
  name: 'start',
  summary: 'from npm start to the first answer, and memory at rest',
  protocol: `npm start is run in this checkout, whose packages are installed, with ports and a DATA_DIR of its own
    and otherwise defaults: embedded PostgreSQL, sandbox and service. The result is seconds until the
    first 200 of GET /v1/rates, polled every ${ASK_EVERY_MS} ms: with the DATA_DIR of an earlier start, the same without
    payments, and with an empty DATA_DIR, in which a database is initialized. Memory is what the system reports
    as resident of the service process: at each first answer, and ${IDLE_SECONDS} s after a last start, without further requests.`,
  async run(bench) {
    const kept = await openFolder(bench);
    await (await startIn(bench, { dataDir: kept })).stop();
    const starts = new Map<string, FirstAnswer[]>();
    const contestant = (name: string, dataDir: () => Promise<string>, env = {}): Contestant => ({
      name,
      role: 'ours',
      round: async () => {
        const first = await measureStart(bench, await dataDir(), env);
        starts.set(name, [...(starts.get(name) ?? []), first]);
        return { value: first.seconds };
      },
    });
    await bench.compare({
      title: 'to the first answer',
      unit: 's',
      contestants: [
        contestant(START, async () => kept),
        contestant(WITHOUT_PAYMENTS, async () => kept, { PAYMENTS: 'none' }),
        contestant(FIRST_START, () => openFolder(bench)),
      ],
      warmUpRounds: 0,
      goals: [{ of: START, atMost: SECONDS_MAX }],
    });
    for (const [name, firsts] of starts) noteFirstAnswers(bench, name, firsts);

    const service = await startIn(bench, { dataDir: kept });
    bench.progress(`resting for ${IDLE_SECONDS} s`);
    await sleep(IDLE_SECONDS * 1000);
    bench.note('resident at rest', service.residentMb(), 'MB', { atMost: REST_MB_MAX });
  },
};

interface FirstAnswer {
  readonly seconds: number;
  readonly residentMb: number;
}

/** Other work on the machine only adds time, so the quickest start says most about the service. */
function noteFirstAnswers(bench: Bench, name: string, firsts: readonly FirstAnswer[]): void {
  const residents = firsts.map(({ residentMb }) => residentMb);
  const most = FIRST_MB_MAX[name];
  bench.note(`${name}: the quickest`, Math.min(...firsts.map(({ seconds }) => seconds)), 's');
  bench.note(`${name}: resident at the first answer, least`, Math.min(...residents), 'MB');
  bench.note(
    `${name}: resident at the first answer, median`,
    median(residents),
    'MB',
    most === undefined ? undefined : { atMost: most },
  );
}

export function openFolder(bench: Bench): Promise<string> {
  return bench.use(makeFolder(), (path) => rm(path, { recursive: true, force: true }));
}

async function measureStart(bench: Bench, dataDir: string, env: NodeJS.ProcessEnv): Promise<FirstAnswer> {
  const service = await startIn(bench, { dataDir, env });
  const residentMb = service.residentMb();
  await service.stop();
  return { seconds: service.seconds, residentMb };
}

interface Started {
  readonly url: string;
  readonly sandbox: string;
  /** Time from the command to the first answer. */
  readonly seconds: number;
  residentMb(): number;
  stop(): Promise<void>;
}

interface StartOptions {
  readonly dataDir: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A clone; default: this checkout. */
  readonly cwd?: string;
}

export async function startIn(bench: Bench, { dataDir, env, cwd = ROOT }: StartOptions): Promise<Started> {
  const [port, grpcPort, opsPort, sandboxPort] = await findFreePorts(4);
  const begun = performance.now();
  const npm = spawn('npm', ['start'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...shellEnvironment(),
      DATA_DIR: dataDir,
      PORT: String(port),
      GRPC_PORT: String(grpcPort),
      OPS_PORT: String(opsPort),
      SANDBOX_PORT: String(sandboxPort),
      ...env,
    },
  });
  const words = lastWordsOf(npm);
  const ended = once(npm, 'exit');
  const stop = async () => {
    npm.kill('SIGTERM');
    await ended;
  };
  await bench.use(Promise.resolve(npm), stop);
  const early = ended.then(([code]) =>
    Promise.reject(new Error(`npm start ended with ${code}:\n${words()}`)),
  );
  const [url, sandbox] = [port, sandboxPort].map((each) => `http://127.0.0.1:${each}`) as [string, string];
  await Promise.race([waitForAnswer(`${url}/v1/rates`), early]);
  early.catch(() => {});
  const seconds = (performance.now() - begun) / 1000;
  return { url, sandbox, seconds, residentMb: () => readResidentMb(npm.pid!), stop };
}

/** The last lines of what a process printed. */
function lastWordsOf({ stdout, stderr }: ChildProcessByStdio<null, Readable, Readable>): () => string {
  let lines: string[] = [];
  for (const stream of [stdout, stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      lines = [...lines, ...text.trimEnd().split('\n')].slice(-LAST_LINES);
    });
  }
  return () => lines.join('\n');
}

/** A user's shell environment: without the variables that the npm of this benchmark has added. */
function shellEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

async function findFreePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as { port: number }).port);
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  return ports;
}

async function waitForAnswer(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(ASK_EVERY_MS);
  }
}

/** The pid of the service, which is the one child of its npm. */
function readResidentMb(npm: number): number {
  const processes = execFileSync('ps', ['-A', '-o', 'ppid=,rss='], { encoding: 'utf8' });
  const [, kib] = new RegExp(`^ *${npm} +(\\d+)$`, 'm').exec(processes) ?? [];
  if (kib === undefined) throw new Error('npm start has no process');
  return Number(kib) / 1024;
}
