/** Runs the operator's commands: in this process, which costs little, or in one of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { runAdmin as runInProcess } from '../../../src/run/admin/run.ts';
import { MACHINE } from '../../support/environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/run/admin/main.ts', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: commands print JSON of every shape
  readonly json: any;
}

let isRunning = false;

/**
 * Run a command in this process, one at a time.
 *
 * `env` and the machine's own variables are the command's whole environment.
 */
export async function runAdmin(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  expect(isRunning, 'commands of one process share its output: use spawnAdmin').toBe(false);
  isRunning = true;
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { env: ownEnv, exitCode } = process;
  process.env = { ...MACHINE, ...env };
  process.exitCode = undefined;
  try {
    const code = await runInProcess(args);
    return outcome(args, code, joined(out.mock.calls), joined(err.mock.calls));
  } finally {
    process.env = ownEnv;
    process.exitCode = exitCode;
    out.mockRestore();
    err.mockRestore();
    isRunning = false;
  }
}

/** Run a command as an operator would: as a process of its own. */
export async function spawnAdmin(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...MACHINE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return outcome(args, code, out, err);
}

/** The same, with a reader that has left before anything is printed, as `head` may. */
export async function spawnUnread(
  ...args: string[]
): Promise<{ readonly code: number; readonly err: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: MACHINE, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, err };
}

function outcome(args: readonly string[], code: number, out: string, err: string): Outcome {
  return { code, out, err, json: args.includes('--json') && out !== '' ? JSON.parse(out) : undefined };
}

function joined(calls: readonly (readonly unknown[])[]): string {
  return calls.map(([chunk]) => String(chunk)).join('');
}
