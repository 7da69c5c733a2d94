/** A TCP relay that a test cuts, and mends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** Connections stay and carry nothing, as when a switch drops packets. New ones get no answer. */
  cut(): void;
  /** Cut connections end, new ones are relayed again. */
  mend(): void;
  close(): void;
}

export async function openRelay(host: string, target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const far = connect(target, host);
    for (const [from, to] of [
      [client, far],
      [far, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void (isCut || to.write(bytes)));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
      end();
    },
    close: () => {
      server.close();
      end();
    },
  };
}
