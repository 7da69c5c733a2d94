/** Runs Porcupine, a checker of linearizability written in Go, on histories. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findTool, runTool } from '../../scripts/toolchains.ts';
import type { History, Model } from './histories.ts';

const FOLDER = 'faults/porcupine';
const PROGRAM = join(import.meta.dirname, '../../node_modules/.cache/porcupine/check');

export interface PorcupineVerdict {
  readonly object: string;
  /** `unknown`: the search took too long. */
  readonly result: 'ok' | 'illegal' | 'unknown';
  readonly ops: number;
}

/** The oldest version of Go that builds it. Source: go.mod. */
const GO_MIN = [1, 24] as const;

let go: { readonly version: string | undefined } | undefined;

/** The version of Go that is installed; `undefined`: none is. */
export function findGo(): string | undefined {
  go ??= { version: askGo() };
  return go.version;
}

function askGo(): string | undefined {
  const program = findTool('go');
  if (program === undefined) return undefined;
  // Outside of a module, which could ask for another version from the network.
  const env = { ...process.env, GOTOOLCHAIN: 'local' };
  const { stdout } = spawnSync(program, ['version'], { cwd: '/', env, encoding: 'utf8' });
  return /go(\d+\.\S+)/.exec(stdout ?? '')?.[1];
}

/** Whether there is a Go that can build it. */
export function hasPorcupine(version = findGo()): boolean {
  const [major = 0, minor = 0] = version?.split('.').map((part) => Number.parseInt(part, 10)) ?? [];
  return major > GO_MIN[0] || (major === GO_MIN[0] && minor >= GO_MIN[1]);
}

/** Why it cannot be used here; `undefined`: it is ready. */
export async function preparePorcupine(version = findGo()): Promise<string | undefined> {
  const needed = `Porcupine needs Go ${GO_MIN.join('.')}`;
  if (version === undefined) return needed;
  if (!hasPorcupine(version)) return `${needed}, and this is ${version}`;
  try {
    await buildPorcupine();
    return undefined;
  } catch (error) {
    return `Porcupine could not be built: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
}

/** Builds it, unless it was built before. */
export async function buildPorcupine(): Promise<void> {
  await mkdir(join(PROGRAM, '..'), { recursive: true });
  await runTool('go', ['build', '-o', PROGRAM, '.'], { folder: FOLDER });
}

/** Each history is searched for at most so long. */
const SEARCH_MS_MAX = 10_000;

/** Needs `preparePorcupine()`. One verdict for each history, in their order. */
export async function checkHistories(
  model: Model,
  histories: readonly History[],
  searchMsMax = SEARCH_MS_MAX,
): Promise<readonly PorcupineVerdict[]> {
  if (histories.length === 0) return [];
  const child = spawn(PROGRAM, { stdio: ['pipe', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => output.push(bytes));
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`porcupine ended with ${code}`)),
    );
  });
  // If it ends early, its exit code says so.
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ model, search_ms_max: searchMsMax, histories }));
  await ended;
  return JSON.parse(Buffer.concat(output).toString()) as readonly PorcupineVerdict[];
}
