/** A step of the suite, and what it works with. */
import type { AddressInfo, Server } from 'node:net';
import type { Boxoffice } from '../typescript/src/backend/index.ts';
import { Client, Watch } from './client.ts';
import type { Driver, Json, Outcome } from './driver.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import type { Tenant, TenantOptions, World } from './world.ts';

/** The same for each language. */
export interface Step {
  readonly name: string;
  /** What the service is here, if it is not the real one. */
  readonly against?: 'a script';
  /** Takes longer than the others, so it is started first. */
  readonly isSlow?: boolean;
  /** Runs alone, after all steps that do not. */
  readonly isAlone?: boolean;
  /** Returns what the SDK made of it. */
  run(at: At): Promise<Json>;
  /** What must be in the normalised outcome, in every language. */
  readonly expect: Json;
}

/** Options of a client, by the names of the protocol. */
export interface ClientOptions {
  readonly url?: string;
  readonly control_url?: string;
  readonly api_key?: string;
  readonly tenant?: string;
  readonly timeout_ms?: number;
  readonly attempt_timeout_ms?: number;
  readonly retries?: number;
}

/** A tenant with a client of the SDK under test, and one of the suite itself. */
export interface House extends Tenant {
  readonly client: Client;
  readonly direct: Boxoffice;
}

/** One run of the suite, in one language. */
export interface Run {
  readonly world: World;
  readonly driver: Driver;
  /** Between the SDK and the real service, where a step has no proxy of its own. */
  readonly rest: TcpProxy;
  readonly control: TcpProxy;
  /** How many tasks the driver had before the first step. */
  readonly tasksAtStart: Json;
}

/** The SDK has no such part, such as a relay half. */
export class Lacking extends Error {}

/** What comes of an operation that not every SDK has. Throws `Lacking`. */
export function known(outcome: Outcome): Outcome {
  if (outcome.error?.kind === 'Missing') throw new Lacking();
  return outcome;
}

let clients = 0;

/** One run of a step, in one language. Everything it opened is closed by `end`. */
export class At {
  readonly run: Run;
  readonly #closing: (() => Promise<unknown> | unknown)[] = [];

  constructor(run: Run) {
    this.run = run;
  }

  get world(): World {
    return this.run.world;
  }

  get driver(): Driver {
    return this.run.driver;
  }

  /** Run it when the step ends. */
  onEnd(close: () => Promise<unknown> | unknown): void {
    this.#closing.push(close);
  }

  async end(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  /** Open a client, with the addresses of the real service unless `options` has others. */
  async open(options: ClientOptions): Promise<{ client: Client; outcome: Outcome }> {
    clients += 1;
    const name = `client-${clients}`;
    const { rest, control } = this.run;
    const all = { url: rest.url, control_url: control.url, api_key: '', ...options };
    const outcome = await this.driver.ask({ op: 'open', client: name, options: all });
    const client = new Client(this.driver, name);
    this.onEnd(() => client.close());
    return { client, outcome };
  }

  /** A client that must open. */
  async client(options: ClientOptions): Promise<Client> {
    const { client, outcome } = await this.open(options);
    if (outcome.error !== undefined) {
      throw new Error(`the client did not open: ${JSON.stringify(outcome.error)}`);
    }
    return client;
  }

  /** A new tenant, and clients of it. `rooms` are created; `options` are of the client under test. */
  async house({
    rooms = [],
    ...options
  }: ClientOptions & { rooms?: readonly string[]; with?: TenantOptions } = {}): Promise<House> {
    const { with: tenantOptions, ...clientOptions } = options;
    const tenant = await this.world.newTenant(tenantOptions);
    const direct = this.world.direct(tenant);
    for (const room of rooms) await direct.rooms.create({ room });
    const client = await this.client({ api_key: tenant.key, tenant: tenant.id, ...clientOptions });
    return { ...tenant, client, direct };
  }

  /** `host:port` of a server that ends with the step, with all its connections. */
  async listen(server: Server): Promise<string> {
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.onEnd(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A feed of revocations, which ends with the step. */
  follow(request: object): Watch {
    const feed = new Watch(this.driver, this.driver.start({ op: 'follow', request }));
    this.onEnd(() => feed.cancel());
    return feed;
  }

  /** A proxy before a port of this machine; by default, that of the control plane. */
  async proxy(target = this.world.service.grpcPort): Promise<TcpProxy> {
    const proxy = await startProxy(target);
    this.onEnd(() => proxy.close());
    return proxy;
  }
}

/** Asks again and again until the answer is wanted, for half a minute at most. */
export async function waitFor<T>(ask: () => Promise<T> | T, isWanted: (answer: T) => boolean): Promise<T> {
  const endsAt = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > endsAt)
      throw new Error(`waited in vain: ${JSON.stringify(answer)?.slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

/** Long, because a busy machine is no fault. */
const WAIT_MS_MAX = 120_000;
const ASK_AGAIN_MS = 20;
