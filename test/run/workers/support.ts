/** The service as `npm start` starts it, with several workers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import { MACHINE } from '../../support/environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/run/main.ts', import.meta.url));

export interface Line {
  readonly msg: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly route?: string;
  readonly waitMs?: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown[]>;
  readonly url: string;
  readonly opsUrl: string;
  /** The log so far. */
  readonly lines: readonly Line[];
  /** Pids of workers that serve or have served, in order of their start. */
  pids(): number[];
}

/** Registers what ends a process. By default it ends with the calling test. */
type Undoing = (undo: () => void) => void;

export function spawnMain(env: Record<string, string>, atTheEnd: Undoing = onTestFinished): ChildProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...{ ...MACHINE, WORKERS: '2', PAYMENTS: 'none' },
      ...{ PORT: '0', OPS_PORT: '0', GRPC_PORT: '0', SECRETS_KEY: Buffer.alloc(32).toString('base64') },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atTheEnd(() => void child.kill('SIGKILL'));
  return child;
}

export async function startMain(env: Record<string, string>, atTheEnd?: Undoing): Promise<Started> {
  const child = spawnMain(env, atTheEnd);
  const exited = once(child, 'exit');
  let said = '';
  let logged = '';
  child.stderr!.on('data', (part) => {
    said += part;
  });
  child.stdout!.on('data', (part) => {
    logged += part;
  });
  // Hooks may not poll.
  await vi.waitFor(() => expect(said).toMatch(/Stop with Ctrl-C/), { timeout: 60_000 });
  const lines = () =>
    logged
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  return {
    child,
    exited,
    url: /REST API +(http:\S+)/.exec(said)![1]!,
    opsUrl: /Operations +(http:\S+)/.exec(said)![1]!,
    get lines() {
      return lines();
    },
    pids: () => lines().flatMap((line) => (line.msg === 'a worker serves' ? [line.pid!] : [])),
  };
}

/** The output and the exit code of a start that fails. */
export async function failToStart(env: Record<string, string>): Promise<{ code: unknown; said: string }> {
  const child = spawnMain({ LOG_LEVEL: 'silent', ...env });
  const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  return { code, said };
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** A keep-alive connection, which stays with one worker. */
export class KeptConnection {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string) {
    this.#url = url;
    onTestFinished(() => this.#agent.destroy());
  }

  ask(method: string, path: string, options: { key?: string; body?: unknown } = {}): Promise<Reply> {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const sent = request(`${this.#url}${path}`, {
      agent: this.#agent,
      method,
      headers: {
        ...(options.key && { authorization: `Bearer ${options.key}` }),
        ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    });
    return new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', async (answer) => {
        const received = await text(answer);
        resolve({ status: answer.statusCode!, json: received === '' ? undefined : JSON.parse(received) });
      });
      sent.end(body);
    });
  }
}

export function refusesConnections(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  }).finally(() => socket.destroy());
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
