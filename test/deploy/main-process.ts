/** A service as `npm start` starts it, without a test around it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { MACHINE } from '../support/environment.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = {
  PAYMENTS: 'none',
  LOG_LEVEL: 'silent',
  PORT: '0',
  OPS_PORT: '0',
  GRPC_PORT: '0',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};

export interface MainProcess {
  readonly url: string;
  /** The port of operators. */
  readonly opsUrl: string;
  readonly child: ChildProcess;
}

export interface MainProcessOptions {
  /** The tree of another version. Default: this one. */
  readonly root?: string;
  /** A file descriptor that takes the log. Default: it is dropped. */
  readonly log?: number;
  /** Called with the process at once, before it serves. */
  readonly whenSpawned?: (child: ChildProcess) => void;
}

/** Resolves when it serves. Fails with what it says if it ends before. */
export function startMainProcess(
  env: Record<string, string>,
  { root = ROOT, log, whenSpawned }: MainProcessOptions = {},
): Promise<MainProcess> {
  const child = spawn(process.execPath, [join(root, 'src/run/main.ts')], {
    env: { ...MACHINE, ...SETTINGS, ...env },
    stdio: ['ignore', log ?? 'ignore', 'pipe'],
  });
  whenSpawned?.(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(said)));
    child.stderr!.on('data', (part) => {
      said += part;
      const [, url, opsUrl] =
        /REST API +(http:\S+).*Operations +(http:\S+).*Stop with Ctrl-C/s.exec(said) ?? [];
      if (url !== undefined && opsUrl !== undefined) resolve({ url, opsUrl, child });
    });
  });
}
