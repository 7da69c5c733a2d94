/** How soon the service answers after a start, and how much memory it uses when idle. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench, Benchmark } from './benchmark.ts';
import { makeFolder } from './stand.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SECONDS_MAX = 3;
const MEMORY_MB_MAX = 120;
const IDLE_SECONDS = 10;
const ASK_EVERY_MS = 10;

const START = 'npm start';
const FIRST_START = 'first npm start';

export const start: Benchmark = {
  name: 'start',
  summary: 'from npm start to the first answer, and memory at rest',
  protocol: `npm start is run in this checkout, whose packages are installed, with ports and a DATA_DIR of its own
    and otherwise defaults: embedded PostgreSQL, sandbox and service. The result is seconds until the
    first 200 of GET /v1/rates, polled every ${ASK_EVERY_MS} ms: with the DATA_DIR of an earlier start, and with an
    empty one, which initializes a database. Memory is what the service process itself reports as
    resident, ${IDLE_SECONDS} s after its last start, without further requests.`,
  async run(bench) {
    const kept = await openFolder(bench);
    await (await startIn(bench, kept)).stop();
    await bench.compare({
      title: 'to the first answer',
      unit: 's',
      contestants: [
        { name: START, role: 'ours', round: async () => timeStart(bench, kept) },
        { name: FIRST_START, role: 'ours', round: async () => timeStart(bench, await openFolder(bench)) },
      ],
      warmUpRounds: 0,
      goals: [{ of: START, atMost: SECONDS_MAX }],
    });
    const service = await startIn(bench, kept);
    bench.progress(`resting for ${IDLE_SECONDS} s`);
    await sleep(IDLE_SECONDS * 1000);
    bench.note('resident memory at rest', await service.memoryMb(), 'MB', { atMost: MEMORY_MB_MAX });
  },
};

function openFolder(bench: Bench): Promise<string> {
  return bench.use(makeFolder(), (path) => rm(path, { recursive: true, force: true }));
}

async function timeStart(bench: Bench, dataDir: string): Promise<{ value: number }> {
  const service = await startIn(bench, dataDir);
  await service.stop();
  return { value: service.seconds };
}

interface Started {
  /** Time from the command to the first answer. */
  readonly seconds: number;
  memoryMb(): Promise<number>;
  stop(): Promise<void>;
}

async function startIn(bench: Bench, dataDir: string): Promise<Started> {
  const [port, grpcPort, opsPort, sandboxPort] = await findFreePorts(4);
  const begun = performance.now();
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    stdio: 'ignore',
    env: {
      ...shellEnvironment(),
      DATA_DIR: dataDir,
      PORT: String(port),
      GRPC_PORT: String(grpcPort),
      OPS_PORT: String(opsPort),
      SANDBOX_PORT: String(sandboxPort),
    },
  });
  const ended = once(npm, 'exit');
  const stop = async () => {
    npm.kill('SIGTERM');
    await ended;
  };
  await bench.use(Promise.resolve(npm), stop);
  const early = ended.then(([code]) => Promise.reject(new Error(`npm start ended with ${code}`)));
  await Promise.race([waitForAnswer(`http://127.0.0.1:${port}/v1/rates`), early]);
  early.catch(() => {});
  return {
    seconds: (performance.now() - begun) / 1000,
    memoryMb: () => readMemoryMb(`http://127.0.0.1:${opsPort}/metrics`),
    stop,
  };
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

async function readMemoryMb(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const bytes = /^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1];
  if (bytes === undefined) throw new Error('the service does not report its memory');
  return Number(bytes) / 1024 / 1024;
}
