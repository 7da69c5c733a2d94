/** Finds a port for a program that must know it before it listens. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { codeOf } from '../base/lib/error-code.ts';

/**
 * Below the ports that systems give by themselves to listeners and outgoing connections, which would soon take one of
 * those again. Source: RFC 6335, from 49152; Linux, from 32768.
 */
const PORTS = { from: 20_000, to: 32_000 } as const;
const TRIES_MAX = 100;

/** Free on `host` at this moment. Another process may take it before it is used, which is unlikely. */
export async function findFreePort(host: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    try {
      await listenOnce(host, port);
      return port;
    } catch (error) {
      if (!['EADDRINUSE', 'EACCES'].includes(codeOf(error) ?? '') || tries === TRIES_MAX) throw error;
    }
  }
}

function listenOnce(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
