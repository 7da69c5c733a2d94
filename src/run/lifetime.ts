/** How a process ends: it closes what it opened, in reverse order, within a time limit. */
import type { Logger } from 'pino';
import { StartError } from '../base/lib/start-error.ts';

/** Time limit for closing. Then the process ends anyway, and what it started is killed (`at-exit.ts`). */
const STOP_WITHIN_MS = 10_000;

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
export async function endProcess(opened: Opened, log: Logger, exitCode = 0): Promise<never> {
  setTimeout(() => {
    log.error('stopping took too long');
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
  try {
    await opened.closeAll();
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
  log.info('stopped');
  process.exit(exitCode);
}

/** Some errors say in one line what to do. Any other error is unexpected and needs its stack. */
export function describeStartFailure(error: unknown): string {
  return error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
}
