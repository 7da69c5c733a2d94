/** How a process ends: it closes what it opened, in reverse order, within a time limit. */
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { StartError } from '../base/lib/start-error.ts';

export interface EndLimits {
  /** For closing. Then the process ends anyway, and what it started is killed (`at-exit.ts`). */
  readonly stopMs: number;
  /** For the whole way out. Then the process is killed, whatever it hangs in. A database that it started goes on. */
  readonly killMs: number;
}

const END_LIMITS: EndLimits = { stopMs: 10_000, killMs: 15_000 };

/** Ask a process to end: a supervisor, Ctrl-C, and a terminal that is closed. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** What was opened, to be closed in reverse order. */
export class Opened {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #ending = new AbortController();
  #closing: Promise<void> | undefined;

  /** Aborted as soon as closing begins, for what is still being opened. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Further calls wait for the first closing. */
  closeAll(): Promise<void> {
    this.#ending.abort();
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  }
}

/** Close what was opened and end the process with `exitCode`, or with 1 if that fails or takes too long. */
export async function endProcess(
  opened: Opened,
  log: Logger,
  exitCode = 0,
  { stopMs, killMs } = END_LIMITS,
): Promise<never> {
  killAfter(killMs);
  setTimeout(() => {
    log.error('stopping took too long');
    process.exit(1);
  }, stopMs).unref();
  try {
    await opened.closeAll();
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
  log.info('stopped');
  process.exit(exitCode);
}

/** By a thread of its own: an event loop that hangs runs no timer, and hears no signal. */
function killAfter(ms: number): void {
  const program = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms})`;
  new Worker(program, { eval: true, env: {} }).unref();
}

/** Some errors say in one line what to do. Any other error is unexpected and needs its stack. */
export function describeStartFailure(error: unknown): string {
  return error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
}
