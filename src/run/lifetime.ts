/** How a process ends: it closes what it opened, in reverse order, within a time limit. */
import type { Logger } from 'pino';
import { StartError } from '../base/lib/start-error.ts';

/** Time limit for closing. Then the process ends anyway. */
const STOP_WITHIN_MS = 10_000;

/** What was opened, to be closed in reverse order. */
export class Opened {
  readonly #closers: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Further calls wait for the first closing. */
  closeAll(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  }
}

/** Close what was opened and end the process, with exit code 1 if that takes too long. */
export async function endProcess(opened: Opened, log: Logger): Promise<never> {
  setTimeout(() => {
    log.error('stopping took too long');
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
  await opened.closeAll();
  log.info('stopped');
  process.exit(0);
}

/** Some errors say in one line what to do. Any other error is unexpected and needs its stack. */
export function describeStartFailure(error: unknown): string {
  return error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
}
