/** A connection of its own on which notifications are heard, opened anew whenever it is lost. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;
/** A database that went silent is noticed by the system, a few probes after this. */
const KEEP_ALIVE_AFTER_MS = 30_000;

export interface Hearing {
  /** The connection is there, for the first time or again: what was notified before went unheard. */
  ready(): void;
  message(payload: string): void;
}

export interface Listening {
  close(): Promise<void>;
}

/** Whoever listens must not depend on it: notifications are lost with the connection. */
export function listen(config: pg.ClientConfig, channel: string, hearing: Hearing): Listening {
  const closing = new AbortController();
  const { signal } = closing;
  const hear = async () => {
    const client = new pg.Client({ ...config, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    // Unheard, the event would end the process.
    client.on('error', () => {});
    client.on('notification', ({ payload = '' }) => hearing.message(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      hearing.ready();
      await once(client, 'end', { signal });
    } finally {
      client.end().catch(() => {});
    }
  };
  const running = (async () => {
    let pauseMs = PAUSE_MS_MIN;
    while (!signal.aborted) {
      const begun = performance.now();
      await hear().catch(() => {});
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
