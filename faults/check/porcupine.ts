/** Runs Porcupine, a checker of linearizability written in Go, on histories. */
import { spawn } from 'node:child_process';
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

/** Whether Go is installed, which Porcupine needs. */
export const hasPorcupine = () => findTool('go') !== undefined;

/** Builds it, unless it was built before. */
export async function buildPorcupine(): Promise<void> {
  await mkdir(join(PROGRAM, '..'), { recursive: true });
  await runTool('go', ['build', '-o', PROGRAM, '.'], { folder: FOLDER });
}

/** Each history is searched for at most so long. */
const SEARCH_MS_MAX = 10_000;

/** Needs `buildPorcupine()`. One verdict for each history, in their order. */
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
