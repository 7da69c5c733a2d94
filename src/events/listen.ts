/** A dedicated connection for LISTEN, reopened whenever it is lost. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;
/** The operating system detects a silent database a few probes after this. */
const KEEP_ALIVE_AFTER_MS = 30_000;

export interface ListenHandlers {
  /** The connection is open, for the first time or again. Earlier notifications were lost. */
  ready(): void;
  message(payload: string): void;
  /** The connection was lost or could not be opened. It is tried again. */
  failed(error: Error): void;
}

export interface Listening {
  close(): Promise<void>;
}

/** Do not rely on receiving every notification: those sent without a connection are lost. */
export function listen(config: pg.ClientConfig, channel: string, handlers: ListenHandlers): Listening {
  const closing = new AbortController();
  const { signal } = closing;
  const listenOnce = async () => {
    const client = new pg.Client({ ...config, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    let lost = new Error('the database closed the connection');
    client.on('error', (error) => (lost = error));
    client.on('notification', ({ payload = '' }) => handlers.message(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      handlers.ready();
      await once(client, 'end', { signal });
      throw lost;
    } finally {
      client.end().catch(() => {});
    }
  };
  const running = (async () => {
    let pauseMs = PAUSE_MS_MIN;
    while (!signal.aborted) {
      const begun = performance.now();
      await listenOnce().catch((error) => {
        if (!signal.aborted) handlers.failed(error);
      });
      if (performance.now() - begun > PAUSE_MS_MAX) pauseMs = PAUSE_MS_MIN;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
  })();
  return {
    close: () => {
      closing.abort();
      return running;
    },
  };
}
