/** A version of the product: a service in a process, and the commands of its operator. */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findLastingPort } from '../deploy/lasting-port.ts';
import { startMainProcess } from '../deploy/main-process.ts';
import { MACHINE } from '../support/environment.ts';

const HOST = '127.0.0.1';

/** A database, as the role that a service runs as and as its owner. */
export interface Urls {
  readonly application: string;
  readonly owner: string;
}

export class Version {
  readonly name: string;
  /** The folder of its files. */
  readonly root: string;
  readonly url: string;
  readonly controlUrl: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  private constructor(name: string, root: string, urls: Urls, http: number, grpc: number) {
    this.name = name;
    this.root = root;
    this.url = `http://${HOST}:${http}`;
    this.controlUrl = `http://${HOST}:${grpc}`;
    this.#env = {
      DATABASE_URL: urls.application,
      ...(urls.owner !== urls.application && { MIGRATIONS_DATABASE_URL: urls.owner }),
      PORT: String(http),
      GRPC_PORT: String(grpc),
      PUBLIC_URL: 'http://upgrade.test',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    };
  }

  static async prepare(name: string, root: string, urls: Urls): Promise<Version> {
    return new Version(name, root, urls, await findLastingPort(HOST), await findLastingPort(HOST));
  }

  /** Resolves when it serves. Fails with what it says if it ends before. */
  async start(): Promise<void> {
    const whenSpawned = (child: ChildProcess) => {
      this.#child = child;
      const end = () => child.kill('SIGKILL');
      process.once('exit', end);
      child.once('exit', () => process.off('exit', end));
    };
    await startMainProcess({ ...this.#env }, { root: this.root, whenSpawned });
  }

  /** As a supervisor does. Returns its exit code; `null`: it did not run, or was killed. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.signalCode !== null) return null;
    if (child.exitCode !== null) return child.exitCode;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    return (await exit)[0];
  }

  /** `npm run admin`. Returns what it prints, and fails if it fails. */
  async admin(...args: string[]): Promise<string> {
    const command = [join(this.root, 'src/run/admin/main.ts'), ...args];
    const env = { ...MACHINE, SECRETS_KEY: Buffer.alloc(32).toString('base64'), ...this.#env };
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  }
}
