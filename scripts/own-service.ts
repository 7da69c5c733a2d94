/** A service of its own for a demo: a process on free ports, with an embedded database in a temporary folder, and the sandbox. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort } from '../src/run/free-port.ts';

const START_WITHIN_MS = 60_000;
const HOST = '127.0.0.1';

export interface OwnService {
  readonly url: string;
  /** The address of the control plane. */
  readonly controlUrl: string;
  /** Until it answers. Fails with what the service said. */
  ready(): Promise<void>;
  /** Waits until the process has ended, and deletes the folder. */
  stop(): Promise<void>;
}

/** `env`: settings in place of the defaults. */
export async function spawnService(env: NodeJS.ProcessEnv = {}): Promise<OwnService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'boxoffice-demo-'));
  const [port, grpcPort, opsPort, sandboxPort] = await Promise.all(
    Array.from({ length: 4 }, () => findFreePort(HOST)),
  );
  const main = new URL('../src/run/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, `--parent=${process.pid}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      HOST,
      PORT: String(port),
      GRPC_PORT: String(grpcPort),
      OPS_PORT: String(opsPort),
      SANDBOX_PORT: String(sandboxPort),
      JOIN_HOST: '',
      JOIN_PORT: '',
      TLS_CERT: '',
      TLS_KEY: '',
      PAYMENTS: 'sandbox',
      PUBLIC_URL: '',
      WEBHOOK_NETWORKS: '',
      DATABASE_URL: '',
      EMBEDDED_DATABASE: '',
      DATA_DIR: dataDir,
      ...env,
    },
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const url = `http://${HOST}:${port}`;
  return {
    url,
    controlUrl: `http://${HOST}:${grpcPort}`,
    ready: () => untilReady(child, url, () => said),
    stop: async () => {
      await endChild(child);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Ask a process to end, and wait until it has. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function untilReady(service: ChildProcess, url: string, said: () => string): Promise<void> {
  for (const until = Date.now() + START_WITHIN_MS; Date.now() < until; ) {
    if (await isBoxoffice(url)) return;
    if (hasEnded(service)) break;
    await wait(100);
  }
  throw new Error(`the service did not start: ${said()}`);
}

export async function isBoxoffice(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v1/rates`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok && 'platform_fee_per_gib' in ((await answer.json()) as object);
  } catch {
    return false;
  }
}
