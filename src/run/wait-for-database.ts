/**
 * A database that is not there yet: its server starts, recovers, is about to become the primary, or cannot be reached.
 *
 * After a power cut, the service and its database start at the same moment, and recovery takes minutes.
 */
import type { Logger } from 'pino';
import { outageOf } from '../base/db/outage.ts';
import { DatabaseReadOnly } from './check-database.ts';

const RETRY_MS = 500;
const LINE_EVERY_MS = 5_000;

export interface Waiting {
  /** Unix time. */
  readonly until: number;
  readonly log: Pick<Logger, 'warn'> | undefined;
  /** Gives up at once. */
  readonly ending?: AbortSignal | undefined;
}

/** Repeat `look` until the database is there. Fails as `look` does: at once if waiting does not help, else in the end. */
export async function waitForDatabase<T>(
  look: () => Promise<T>,
  { until, log, ending }: Waiting,
): Promise<T> {
  let reason = '';
  const tell = () => {
    const seconds = Math.ceil((until - Date.now()) / 1_000);
    log?.warn({ reason, seconds }, 'waiting for the database');
  };
  let telling: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (!mayPass(error) || Date.now() >= until || ending?.aborted) throw error;
        reason = (error as Error).message;
      }
      if (telling === undefined) tell();
      telling ??= setInterval(tell, LINE_EVERY_MS);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } finally {
    clearInterval(telling);
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof DatabaseReadOnly || outageOf((error as Error).cause) !== undefined;
}
