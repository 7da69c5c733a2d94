/** Run tests in the scratch copy until one fails, all have passed, or no test finishes for too long. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** What `vitest.config.ts` reports about a finished test. */
export interface Message {
  readonly file: string;
  readonly name: string;
  readonly failed: boolean;
}

export type TestRun =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly by: Message }
  /** No test finished for this long. */
  | { readonly outcome: 'silent' }
  /** The run ended without a result: the tests could not start. */
  | { readonly outcome: 'broken'; readonly output: string };

export interface Runner {
  /** Root of the scratch copy. */
  readonly root: string;
  readonly databaseUrl: string;
  readonly silenceSeconds: number;
  readonly signal: AbortSignal;
}

const OUTPUT_MAX = 4_000;

export async function runTests(runner: Runner, files: readonly string[]): Promise<TestRun> {
  const vitest = join(runner.root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--config', 'scripts/mutants/vitest.config.ts', '--root', '.'],
    {
      cwd: runner.root,
      env: {
        ...process.env,
        TEST_DATABASE_URL: runner.databaseUrl,
        MUTANT_TESTS: JSON.stringify(files),
        NO_COLOR: '1',
      },
      // A process group of its own, so that its workers are killed with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exit = once(child, 'exit');
  const end = () => killGroup(child);
  runner.signal.addEventListener('abort', end);
  let isSilent = false;
  const watch = setTimeout(() => {
    isSilent = true;
    end();
  }, runner.silenceSeconds * 1000);
  let by: Message | undefined;
  let output = '';
  child.stderr.on('data', (text) => {
    output = `${output}${text}`.slice(-OUTPUT_MAX);
  });
  createInterface(child.stdout).on('line', (line) => {
    const message = parseMessage(line);
    if (message) watch.refresh();
    else output = `${output}${line}\n`.slice(-OUTPUT_MAX);
    if (message?.failed) by ??= message;
  });
  const [code] = await exit;
  clearTimeout(watch);
  runner.signal.removeEventListener('abort', end);
  end();
  runner.signal.throwIfAborted();
  // The last lines of output may still be buffered.
  if (!child.stdout.readableEnded) await Promise.race([once(child.stdout, 'close'), wait(1_000)]);
  if (by) return { outcome: 'failed', by };
  if (isSilent) return { outcome: 'silent' };
  return code === 0
    ? { outcome: 'passed' }
    : { outcome: 'broken', output: stripVTControlCharacters(output).trim() };
}

/** One line for `readline`, which takes these two characters for ends of lines. */
export function renderMessage(message: Message): string {
  return JSON.stringify(message).replace(/[\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16)}`);
}

export function parseMessage(line: string): Message | undefined {
  if (!line.startsWith('{"file":')) return undefined;
  const message: Message = JSON.parse(line);
  return { ...message, name: stripVTControlCharacters(message.name) };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}
