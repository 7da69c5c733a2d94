/** A receiver of webhooks: `/boxoffice` takes what comes, `/accounts` is out of order. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Hook {
  url(path: string): string;
  /** How many requests the path has got. */
  count(path: string): number;
  close(): void;
}

export async function startHook(): Promise<Hook> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    request.resume().on('end', () => {
      if (path === '/accounts') response.writeHead(503).end('Closed for stocktaking');
      else response.writeHead(200).end('Thank you');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    count: (path) => counts.get(path) ?? 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
