/** A service in a child process, which a test kills and restarts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach } from 'vitest';
import type { TestDatabase } from './database.ts';

export interface ChildService {
  /** The URL of the running service. */
  readonly url: string;
  readonly grpcPort: number;
  start(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP, or SIGCONT. */
  stop(): void;
  goOn(): void;
}

export interface ChildOptions {
  /** Sends mails there. */
  readonly port?: number;
  /** Deliveries to webhooks take as long as in production. */
  readonly hasUsualWebhooks?: boolean;
  /** Archives records as soon as they are charged. */
  readonly archives?: boolean;
}

/** On the database of the calling test file. A service that still runs after a test is killed. */
export function useChildService(
  database: Pick<TestDatabase, 'url'>,
  options: ChildOptions = {},
): ChildService {
  let running: { process: ChildProcess; url: string; grpcPort: number } | undefined;
  const get = () => {
    if (!running) throw new Error('no service runs');
    return running;
  };
  const kill = async () => {
    const child = running?.process;
    running = undefined;
    if (!child || child.exitCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  afterEach(kill);
  return {
    get url() {
      return get().url;
    },
    get grpcPort() {
      return get().grpcPort;
    },
    start: async () => {
      const script = join(import.meta.dirname, 'run-service.ts');
      const settings = [
        database.url,
        String(options.port ?? ''),
        options.hasUsualWebhooks ? 'usual' : 'fast',
        options.archives ? 'archive' : 'keep',
      ];
      const child = spawn(process.execPath, [script, ...settings], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = await once(createInterface(child.stdout!), 'line');
      const { port, grpcPort } = JSON.parse(line);
      running = { process: child, url: `http://127.0.0.1:${port}`, grpcPort };
    },
    kill,
    stop: () => void get().process.kill('SIGSTOP'),
    goOn: () => void get().process.kill('SIGCONT'),
  };
}
