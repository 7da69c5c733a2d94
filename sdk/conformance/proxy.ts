/** A TCP proxy that drops, delays and repeats answers, and breaks connections. HTTP/1 and HTTP/2 are bytes to it. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** The target of new connections: a port of this machine. */
  target: number;
  /** While set, requests arrive but answers are dropped. */
  holdsAnswers: boolean;
  /** By how many milliseconds each piece of an answer is delayed. */
  delayMs: number;
  /** While set, each piece of an answer is sent twice. */
  repeatsAnswers: boolean;
  /** Breaks the next connection whose answers reach so many bytes, once. */
  cutAfterBytes: number | undefined;
  /** How many sockets are open, on both sides. */
  readonly sockets: number;
  /** How many connections were opened so far. */
  readonly opened: number;
  /** How many requests began to arrive so far, if a connection carries one at a time, as in HTTP/1. */
  readonly requests: number;
  /** For how many milliseconds no piece of a request arrived. */
  readonly quietMs: number;
  /** Break all connections, whatever they carry. */
  cut(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let opened = 0;
  let requests = 0;
  let arrivedAt = performance.now();
  const server = createServer((near) => {
    opened += 1;
    const far = connect(proxy.target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    // What was answered before still arrives.
    far.on('close', () => later(proxy, () => near.destroySoon()));
    let isAnswered = true;
    near.on('data', (bytes) => {
      if (isAnswered) requests += 1;
      isAnswered = false;
      arrivedAt = performance.now();
      far.write(bytes);
    });
    const pass = answerPasser(proxy, near, far);
    far.on('data', (bytes) => {
      // The answer of a request whose client still waits is not passed on.
      if (!proxy.holdsAnswers) isAnswered = true;
      pass(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: TcpProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    holdsAnswers: false,
    delayMs: 0,
    repeatsAnswers: false,
    cutAfterBytes: undefined,
    get sockets() {
      return sockets.size;
    },
    get opened() {
      return opened;
    },
    get requests() {
      return requests;
    },
    get quietMs() {
      return performance.now() - arrivedAt;
    },
    cut,
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Passes the answers of one connection on, as the proxy is set at that moment. */
function answerPasser(proxy: TcpProxy, near: Socket, far: Socket): (bytes: Buffer) => void {
  let passed = 0;
  return (bytes) => {
    if (proxy.holdsAnswers) return;
    passed += bytes.length;
    const { cutAfterBytes } = proxy;
    if (cutAfterBytes !== undefined && passed >= cutAfterBytes) {
      proxy.cutAfterBytes = undefined;
      // What came before the cut still arrives.
      near.end(bytes.subarray(0, Math.max(bytes.length - (passed - cutAfterBytes), 0)));
      far.destroy();
      return;
    }
    const piece = proxy.repeatsAnswers ? Buffer.concat([bytes, bytes]) : bytes;
    later(proxy, () => near.destroyed || near.write(piece));
  };
}

/** As late as answers are at the moment. */
function later({ delayMs }: TcpProxy, work: () => void): void {
  if (delayMs === 0) work();
  else setTimeout(work, delayMs);
}
