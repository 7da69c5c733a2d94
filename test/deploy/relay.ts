/** A TCP relay that a test cuts, and mends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** Connections stay and carry nothing, as when a switch drops packets. New ones get no answer. */
  cut(): void;
  /** Cut before a client sends the last of these texts on a connection on which it has sent the others. Resolves then. */
  cutBefore(texts: readonly string[]): Promise<void>;
  /** Cut connections end, new ones are relayed again. */
  mend(): void;
  close(): void;
}

export async function openRelay(host: string, target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let watch: Watch | undefined;
  const cut = () => {
    isCut = true;
    watch = undefined;
  };
  const server = createServer((client) => {
    const far = connect(target, host);
    client.on('data', (bytes) => watch?.look(client, bytes));
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
    cut,
    cutBefore: (texts) =>
      new Promise((resolve) => {
        watch = new Watch(texts, () => {
          cut();
          resolve();
        });
      }),
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

/** Waits for texts that are sent one after another on one connection. */
class Watch {
  readonly #texts: readonly string[];
  readonly #onLast: () => void;
  /** How many of them each connection has sent. */
  readonly #sent = new WeakMap<Socket, number>();

  constructor(texts: readonly string[], onLast: () => void) {
    this.#texts = texts;
    this.#onLast = onLast;
  }

  look(client: Socket, bytes: Buffer): void {
    let sent = this.#sent.get(client) ?? 0;
    while (sent < this.#texts.length && bytes.includes(this.#texts[sent]!)) sent += 1;
    this.#sent.set(client, sent);
    if (sent === this.#texts.length) this.#onLast();
  }
}
