/**
 * A low-overhead HTTP load generator: it shares its cores with the server under test.
 *
 * Each connection is a socket with one request in flight at a time. Requests are pre-built bytes.
 * Only the status and the length of an answer are parsed, and every status is checked.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Load {
  /** Target addresses. Connections are distributed over all of them. */
  readonly urls: readonly string[];
  readonly connections: number;
  /** The bytes of request `index`, counted over all connections. Both numbers start at 0. */
  readonly request: (index: number, connection: number) => Buffer;
  /** Ends after this many requests, in total or per connection, or after this many seconds. */
  readonly until:
    | { readonly requests: number }
    | { readonly requestsEach: number }
    | { readonly seconds: number };
  /**
   * Requests a second, at even intervals, independent of the answers. Latency is then measured from
   * the time a request was due, even if no connection was free. If absent, each connection sends its
   * next request as soon as it has the last answer.
   */
  readonly pace?: number;
  /** Any other status fails the benchmark. */
  readonly statuses: readonly number[];
  /** Checks an answer's body. False fails the benchmark. */
  readonly isRight?: (body: string) => boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Requests a second. */
  readonly rate: number;
  /** Latency of each request, in ms, in the order of the answers. */
  readonly latencies: readonly number[];
  readonly statuses: ReadonlyMap<number, number>;
}

/** Send requests until the load ends. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const sockets = await Promise.all(
    Array.from({ length: load.connections }, (_, index) =>
      Connection.open(load.urls[index % load.urls.length]!),
    ),
  );
  try {
    return await runOn(sockets, load);
  } finally {
    for (const socket of sockets) socket.close();
  }
}

async function runOn(connections: readonly Connection[], load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const start = performance.now();
  const { requests = Number.POSITIVE_INFINITY, requestsEach = Number.POSITIVE_INFINITY } = limitsOf(load);
  const deadline = 'seconds' in load.until ? start + load.until.seconds * 1000 : Number.POSITIVE_INFINITY;
  let sent = 0;

  const runOne = async (connection: Connection, place: number) => {
    for (let own = 0; own < requestsEach && sent < requests; own += 1) {
      const index = sent++;
      const due = load.pace === undefined ? performance.now() : start + (index / load.pace) * 1000;
      if (due >= deadline) return;
      if (due > performance.now()) await sleep(due - performance.now());
      const { status, body } = await connection.send(load.request(index, place));
      latencies.push(performance.now() - due);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const isRight = load.statuses.includes(status) && (load.isRight?.(body) ?? true);
      if (!isRight) throw new Error(`${connection.url} answered ${status}: ${body.slice(0, 500)}`);
    }
  };
  await Promise.all(connections.map(runOne));
  const seconds = (performance.now() - start) / 1000;
  return { requests: latencies.length, seconds, rate: latencies.length / seconds, latencies, statuses };
}

function limitsOf({ until }: Load): { readonly requests?: number; readonly requestsEach?: number } {
  return 'seconds' in until ? {} : until;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const READ_BYTES = 64 * 1024;

/** One keep-alive connection. */
class Connection {
  readonly url: string;
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  static open(url: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(url, () => resolve(connection), reject);
    });
  }

  private constructor(url: string, opened: () => void, failed: (error: Error) => void) {
    this.url = url;
    const { hostname, port } = new URL(url);
    this.#socket = connect({
      host: hostname,
      port: Number(port || 80),
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (length, bytes) =>
          this.#read(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1')),
      },
    });
    this.#socket.once('connect', opened);
    const fail = (error: Error) => {
      failed(error);
      this.#waiting?.reject(error);
    };
    this.#socket.once('error', fail);
    this.#socket.once('close', () => fail(new Error(`${url} closed a connection`)));
  }

  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error(`${this.url} closed a connection`));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): boolean {
    this.#received += text;
    const answer = parseAnswer(this.#received);
    if (answer) {
      const waiting = this.#waiting;
      this.#received = '';
      this.#waiting = undefined;
      waiting?.resolve(answer);
    }
    return true;
  }
}

/** A complete answer: with a length, without a body, or chunked. */
function parseAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = text.slice(headEnd + 4);
  if (length !== undefined) return body.length >= Number(length) ? { status, body } : undefined;
  if (status === 204 || status === 304) return { status, body: '' };
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const whole = joinChunks(body);
    return whole === undefined ? undefined : { status, body: whole };
  }
  // Without a length it ends with the connection, which is reported as a failure.
  return undefined;
}

/** The chunked body, once complete. */
function joinChunks(text: string): string | undefined {
  let body = '';
  for (let at = 0; ; ) {
    const sizeEnd = text.indexOf('\r\n', at);
    if (sizeEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, sizeEnd), 16);
    const end = sizeEnd + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return body;
    body += text.slice(sizeEnd + 2, end - 2);
    at = end;
  }
}

/** The bytes of a request. `json` is sent as it is. */
export function requestBytes(
  method: string,
  url: string,
  {
    token,
    cookie,
    json,
  }: { readonly token?: string | undefined; readonly cookie?: string; readonly json?: string } = {},
): Buffer {
  const { pathname, search, host } = new URL(url);
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`];
  if (token !== undefined) lines.push(`authorization: Bearer ${token}`);
  if (cookie !== undefined) lines.push(`cookie: ${cookie}`);
  if (json !== undefined) {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(json)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${json ?? ''}`);
}
