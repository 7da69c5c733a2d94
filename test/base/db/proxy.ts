/** A database proxy that can cut connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The same database, through the proxy. */
  readonly url: string;
  /** Cut every connection when the client sends this text. The database receives only what comes before it. */
  cutBefore(text: string | undefined): void;
  /** Cut every connection when the client sends this text. The database receives it, and half of what follows. */
  cutWithin(text: string | undefined): void;
  /** Cut every connection when the database answers this text, before the client receives the answer. */
  cutAfter(text: string | undefined): void;
  /** Cut every connection and refuse new ones, or accept them again. */
  setOpen(open: boolean): void;
  /** Keep every connection but drop all data, like a host without power; or resume. */
  setSilent(silent: boolean): void;
  close(): Promise<void>;
}

/** The message that ends an answer, without its last byte. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);

export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const cut: Partial<Record<'before' | 'within' | 'after', string | undefined>> = {};
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
    const endWith = (bytes: Buffer) => {
      client.pause();
      upstream.end(bytes, end);
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    if (!open) return end();

    let answerIsLast = false;
    client.on('data', (bytes) => {
      if (silent) return;
      if (cut.before !== undefined && bytes.includes(cut.before)) {
        return endWith(bytes.subarray(0, bytes.indexOf(cut.before)));
      }
      if (cut.within !== undefined && bytes.includes(cut.within)) {
        const start = bytes.indexOf(cut.within) + cut.within.length;
        return endWith(bytes.subarray(0, (start + bytes.length) >> 1));
      }
      if (cut.after !== undefined && bytes.includes(cut.after)) answerIsLast = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (silent) return;
      if (!answerIsLast) client.write(bytes);
      else if (bytes.includes(READY_FOR_QUERY)) end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(databaseUrl);
  url.search = '';
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
    cutWithin: (text) => {
      cut.within = text;
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
      // Data was dropped, so these connections are unusable.
      if (!silent) cutAll();
    },
    close: async () => {
      server.close();
      cutAll();
      await once(server, 'close');
    },
  };
}
