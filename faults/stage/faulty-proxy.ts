/** A TCP proxy that disturbs what it carries. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = '127.0.0.1';

export class FaultyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Resolves when bytes may pass. */
  #gate: PromiseWithResolvers<void> | undefined;
  #delayMs = 0;
  #refuses = false;
  /** Bytes that still pass, until the connection that carries the next one is cut. */
  #budget: number | undefined;
  /** Something was held up, refused or cut since it was mended last. */
  #hasDisturbed = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** To a port of this machine, which may be known by the first connection only. */
  static async open(target: number | (() => number)): Promise<FaultyProxy> {
    const server = createServer();
    const proxy = new FaultyProxy(server);
    const find = typeof target === 'number' ? () => target : target;
    server.on('connection', (client) => proxy.#carry(client, find()));
    server.listen(0, HOST);
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections stay and carry nothing until `mend()`. Then everything arrives that was sent. */
  stall(): void {
    this.#gate ??= Promise.withResolvers();
  }

  /** Each part that arrives is handed on so much later. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  /** New connections are closed, and those that are there end. */
  refuse(): void {
    this.#refuses = true;
    this.cutAll();
  }

  /** The connection that carries byte `after` from now on, in either direction, is cut in front of it. */
  cutAtByte(after: number): void {
    this.#budget = after;
  }

  cutAll(): void {
    this.#hasDisturbed ||= this.#sockets.size > 0;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Returns whether anything was disturbed since it was mended last. */
  mend(): boolean {
    this.#refuses = false;
    this.#delayMs = 0;
    this.#budget = undefined;
    this.#gate?.resolve();
    this.#gate = undefined;
    const hasDisturbed = this.#hasDisturbed;
    this.#hasDisturbed = false;
    return hasDisturbed;
  }

  close(): void {
    this.mend();
    this.#server.close();
    this.cutAll();
  }

  #carry(client: Socket, target: number): void {
    if (this.#refuses) {
      this.#hasDisturbed = true;
      return void client.destroy();
    }
    const far = connect(target, HOST);
    for (const [from, to] of [
      [client, far],
      [far, client],
    ] as const) {
      from.setNoDelay(true);
      this.#sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
      void this.#pump(from, to).catch(() => from.destroy());
    }
  }

  async #pump(from: Socket, to: Socket): Promise<void> {
    for await (const part of from as AsyncIterable<Buffer>) {
      this.#hasDisturbed ||= this.#gate !== undefined || this.#delayMs > 0;
      await this.#gate?.promise;
      if (this.#delayMs > 0) await sleep(this.#delayMs);
      const length = this.#take(part.length);
      if (to.destroyed) return;
      const isFull = !to.write(length === part.length ? part : part.subarray(0, length));
      if (length < part.length) return void from.destroy();
      if (isFull) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    }
    to.end();
  }

  /** How many of so many bytes pass. */
  #take(bytes: number): number {
    if (this.#budget === undefined) return bytes;
    this.#budget -= bytes;
    if (this.#budget >= 0) return bytes;
    this.#hasDisturbed = true;
    const passing = bytes + this.#budget;
    this.#budget = undefined;
    return passing;
  }
}
