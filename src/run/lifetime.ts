/** How a process of ours ends: what it opened is closed in the opposite order, and in time. */
import type { Logger } from 'pino';
import { StartError } from '../base/lib/start-error.ts';
import { shrinkHeap } from './shrink-heap.ts';

/** What is finished within this time is finished; then the process ends anyway. */
const STOP_WITHIN_MS = 10_000;

/** Nobody's first answer waits for it, and the first turns of the background work are over. */
const SHRINK_AFTER_MS = 1_000;

/** What was opened, to be closed in the opposite order. */
export class Opened {
  readonly #closers: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Whoever asks again waits for the first closing. */
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

export function shrinkHeapSoon(): void {
  setTimeout(shrinkHeap, SHRINK_AFTER_MS).unref();
}

/** Some errors say in one line what to do; anything else is a surprise and needs its stack. */
export function describeStartFailure(error: unknown): string {
  return error instanceof StartError ? error.message : ((error as Error).stack ?? String(error));
}
