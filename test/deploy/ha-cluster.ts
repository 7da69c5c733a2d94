/**
 * The cluster of `deploy/ha` on this machine: two PostgreSQL with Patroni, one etcd, HAProxy and PgBouncer, on free
 * ports, from the files that `render.ts` makes.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openScratch, type Scratch } from '../support/scratch.ts';
import { findLastingPort } from './lasting-port.ts';
import { findProgram, POSTGRES_BIN, Processes, postgresOf, waitFor } from './processes.ts';
import { openRelay, type Relay } from './relay.ts';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, '../../deploy/ha');
const HOST = '127.0.0.1';
const NAMES = ['one', 'two'] as const;
export type NodeName = (typeof NAMES)[number];

/** The first program that the cluster needs and that is missing here. */
export function findMissingProgram(): string | undefined {
  if (POSTGRES_BIN === undefined) return 'postgresql';
  if (globSync('/usr/lib/python3*/dist-packages/etcd').length === 0) return 'python3-etcd';
  return ['patroni', 'etcd', 'haproxy', 'pgbouncer', 'setpriv'].find(
    (name) => findProgram(name) === undefined,
  );
}

/** What a machine with PostgreSQL runs. */
export interface Node {
  readonly name: NodeName;
  /** Opens its own PostgreSQL, whether it is the primary or not, as the owner. */
  readonly url: string;
  /** Between its Patroni and etcd. */
  readonly toEtcd: Relay;
  patroni(): number;
  /** The postmaster and its processes, first the postmaster. */
  postgres(): number[];
  startPatroni(): void;
}

export class HaCluster {
  readonly #scratch: Scratch;
  readonly #processes: Processes;
  readonly #secret = randomBytes(24).toString('hex');
  readonly #ports: Readonly<Record<string, number>>;
  readonly #nodes: Readonly<Record<NodeName, Node>>;

  private constructor(scratch: Scratch, ports: Record<string, number>, relays: readonly Relay[]) {
    this.#scratch = scratch;
    this.#processes = new Processes(scratch);
    this.#ports = ports;
    this.#nodes = { one: this.#nodeOf('one', relays[0]!), two: this.#nodeOf('two', relays[1]!) };
  }

  /**
   * Resolves when one is the primary, the other its synchronous standby, and the proxy leads there.
   * `script`: for a shell, as the user of PostgreSQL in the folder of the files, before Patroni starts.
   */
  static async start(script = ''): Promise<HaCluster> {
    const names = ['etcd', 'peer', 'proxy', 'pooler', ...NAMES.flatMap((name) => [name, `patroni-${name}`])];
    const ports: Record<string, number> = {};
    for (const name of names) ports[name] = await findLastingPort(HOST);
    const relays = [await openRelay(HOST, ports.etcd!), await openRelay(HOST, ports.etcd!)];
    const cluster = new HaCluster(openScratch('boxoffice-ha-'), ports, relays);
    try {
      await cluster.#start(script);
      return cluster;
    } catch (error) {
      const logs = cluster.logs();
      await cluster.stop();
      throw new Error(logs, { cause: error });
    }
  }

  /** As the service connects to the primary. */
  get url(): string {
    return this.#urlOf('boxoffice_app', 'proxy');
  }

  get poolerUrl(): string {
    return this.#urlOf('boxoffice_app', 'pooler');
  }

  get ownerUrl(): string {
    return this.#urlOf('boxoffice', 'proxy');
  }

  /** The node that Patroni says is the primary; `undefined` while there is none. */
  async primary(): Promise<Node | undefined> {
    const are = await Promise.all(NAMES.map((name) => this.#answers(name, 'primary')));
    return NAMES.map((name) => this.#nodes[name]).find((_, index) => are[index]);
  }

  otherThan({ name }: Node): Node {
    return this.#nodes[name === 'one' ? 'two' : 'one'];
  }

  /** Wait until there is a primary, other than `before`. */
  async becomesPrimary(before?: Node): Promise<Node> {
    return waitFor('a primary', async () => {
      const primary = await this.primary();
      return primary === before ? undefined : primary;
    });
  }

  /** Wait until the other node is a standby without which no commit is acknowledged. */
  async isSynchronous(): Promise<void> {
    await waitFor('a synchronous standby', async () => {
      const primary = await this.primary();
      return primary && (await this.#answers(this.otherThan(primary).name, 'sync'));
    });
  }

  /** What an operator does with `patronictl switchover`. */
  async switchOver(from: Node): Promise<void> {
    const answer = await fetch(`${this.#patroniUrl(from.name)}/switchover`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`patroni:${this.#secret}`)}` },
      body: JSON.stringify({ leader: from.name, candidate: this.otherThan(from).name }),
    });
    if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
  }

  /** The newest lines of every log, for a test that failed. */
  logs(): string {
    return this.#processes.logs();
  }

  async stop(): Promise<void> {
    for (const name of NAMES) this.#nodes[name].toEtcd.close();
    await this.#processes.stop();
  }

  async #start(script: string): Promise<void> {
    const { folder } = this.#scratch;
    const settings = join(folder, 'ha.env');
    writeFileSync(settings, this.#settings(), { mode: 0o600 });
    await run(process.execPath, [join(FOLDER, 'render.ts'), settings, folder]);
    await this.#processes.ownFolder();
    await this.#processes.run(['sh', '-ec', script]);

    this.#spawn('etcd', ['etcd', '--config-file', join(folder, 'etcd-one.yml')]);
    await waitFor('etcd', () => isHealthy(`http://${HOST}:${this.#ports.etcd}/health`));
    this.#nodes.one.startPatroni();
    await this.becomesPrimary();
    this.#nodes.two.startPatroni();
    this.#spawn('haproxy', ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')]);
    this.#spawn('pgbouncer', ['pgbouncer', join(folder, 'pgbouncer.ini')]);
    await this.isSynchronous();
  }

  #settings(): string {
    const { folder } = this.#scratch;
    const ports = this.#ports;
    const passwords = ['SUPERUSER', 'REPLICATION', 'PATRONI', 'OWNER', 'SERVICE'];
    const databases = NAMES.map((name) => `${name}=${HOST}:${ports[name]}:${ports[`patroni-${name}`]}`);
    return [
      readFileSync(join(FOLDER, 'ha.env'), 'utf8'),
      `DATABASES=${databases.join(' ')}`,
      `ETCD=one=${HOST}:${ports.etcd}:${ports.peer}`,
      'NETWORK=127.0.0.0/8',
      `PROXY_PORT=${ports.proxy}`,
      `POOLER_PORT=${ports.pooler}`,
      `POSTGRES_BIN=${POSTGRES_BIN}`,
      ...['POSTGRES_DATA', 'ETCD_DATA', 'FILES'].map((name) => `${name}=${folder}`),
      ...passwords.map((name) => `${name}_PASSWORD=${this.#secret}`),
    ].join('\n');
  }

  #nodeOf(name: NodeName, toEtcd: Relay): Node {
    const { folder } = this.#scratch;
    let patroni: ChildProcess | undefined;
    return {
      name,
      url: this.#urlOf('boxoffice', name),
      toEtcd,
      patroni: () => patroni!.pid!,
      postgres: () => postgresOf(join(folder, `boxoffice-${name}`)),
      startPatroni: () => {
        patroni = this.#spawn(`patroni-${name}`, ['patroni', join(folder, `patroni-${name}.yml`)], {
          PATRONI_ETCD_HOSTS: `${HOST}:${toEtcd.port}`,
          // Otherwise it asks etcd for the address, and leaves out the relay.
          PATRONI_ETCD_USE_PROXIES: 'true',
        });
      },
    };
  }

  #spawn(
    name: string,
    [program, ...args]: readonly [string, ...string[]],
    env: Record<string, string> = {},
  ): ChildProcess {
    return this.#processes.start(name, [findProgram(program)!, ...args], env);
  }

  #urlOf(user: string, port: string): string {
    return `postgres://${user}:${this.#secret}@${HOST}:${this.#ports[port]}/boxoffice`;
  }

  #patroniUrl(name: NodeName): string {
    return `http://${HOST}:${this.#ports[`patroni-${name}`]}`;
  }

  #answers(name: NodeName, path: string): Promise<boolean> {
    return isHealthy(`${this.#patroniUrl(name)}/${path}`);
  }
}

async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok ?? false;
}
