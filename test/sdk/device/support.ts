import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Timers } from '../../../sdk/typescript/src/device/index.ts';

/** A fake clock that only advances on demand. */
export class ManualTimers implements Timers {
  #nowMs: number;
  #next = 0;
  readonly #pending = new Map<number, { run: () => void; atMs: number }>();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimeout(run: () => void, ms: number): number {
    this.#next += 1;
    this.#pending.set(this.#next, { run, atMs: this.#nowMs + Math.max(0, ms) });
    return this.#next;
  }

  clearTimeout(timer: unknown): void {
    this.#pending.delete(timer as number);
  }

  /** Milliseconds until each timer, soonest first. */
  get waits(): number[] {
    return [...this.#pending.values()]
      .map(({ atMs }) => atMs - this.#nowMs)
      .sort((one, other) => one - other);
  }

  /** Advance time and run everything that becomes due on the way. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#pending].sort(([, one], [, other]) => one.atMs - other.atMs)[0];
      if (!due || due[1].atMs > endMs) break;
      this.#pending.delete(due[0]);
      this.#nowMs = due[1].atMs;
      due[1].run();
      await settle();
    }
    this.#nowMs = endMs;
  }
}

/** Let pending promises settle. */
export async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

export interface JoinCall {
  readonly path: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** A scripted join endpoint. */
export async function startJoinEndpoint(answer: (call: JoinCall, count: number) => Answer | 'hang up') {
  const calls: JoinCall[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { url: path, method, headers } = request;
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    calls.push({ path, method, headers, body });
    const reply = answer(calls.at(-1)!, calls.length);
    if (reply === 'hang up') request.socket.destroy();
    else response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
