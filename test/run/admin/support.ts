/** Runs a command as an operator would: as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MACHINE } from '../../support/environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/run/admin/main.ts', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: commands print JSON of every shape
  readonly json: any;
}

/** `env` and the machine's own variables are the command's whole environment. */
export async function runAdmin(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...MACHINE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, err, json: args.includes('--json') && out !== '' ? JSON.parse(out) : undefined };
}
