/** Finds a port for a program that must know it before it listens. */
import { createServer } from 'node:net';

/** Free on `host` at this moment. Another process may take it before it is used. */
export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
