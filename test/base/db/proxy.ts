/** A way to the database that can be cut. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The same database, by way of the proxy. */
  readonly url: string;
  /** Cut every connection as soon as the client has sent this text, which the database never sees. */
  cutBefore(text: string | undefined): void;
  /** Cut every connection as soon as the database has answered to this text, of which the client never hears. */
  cutAfter(text: string | undefined): void;
  /** Cut every connection and refuse new ones, or let them through again. */
  setOpen(open: boolean): void;
  /** Keep every connection and let nothing through, as a host that has lost its power does; or go on. */
  setSilent(silent: boolean): void;
  close(): Promise<void>;
}

export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const cut: { before?: string | undefined; after?: string | undefined } = {};
  let open = true;
  let silent = false;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const both = [client, upstream];
    const end = () => {
      for (const socket of both) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    if (!open) return end();

    let answerIsLast = false;
    client.on('data', (bytes) => {
      if (silent) return;
      if (cut.before !== undefined && bytes.includes(cut.before)) return end();
      if (cut.after !== undefined && bytes.includes(cut.after)) answerIsLast = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (silent) return;
      if (answerIsLast) end();
      else client.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cutBefore: (text) => {
      cut.before = text;
    },
    cutAfter: (text) => {
      cut.after = text;
    },
    setOpen: (value) => {
      open = value;
      if (!open) cutAll();
    },
    setSilent: (value) => {
      silent = value;
      // What was swallowed is gone, so those connections are of no use any more.
      if (!silent) cutAll();
    },
    close: async () => {
      server.close();
      cutAll();
      await once(server, 'close');
    },
  };
}
