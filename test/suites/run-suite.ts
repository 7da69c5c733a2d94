/** Programs of others that judge what the service says, with packages of their own: the first test that needs one installs them. */
import { execFile, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SETUP = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));

const FILES = {
  afdocs: 'node_modules/afdocs/bin/afdocs.mjs',
  conformance: 'node_modules/@modelcontextprotocol/conformance/dist/index.js',
} as const;

export async function installSuites(): Promise<void> {
  await promisify(execFile)(process.execPath, [SETUP, 'test/suites']);
}

export interface SuiteRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runSuite(suite: keyof typeof FILES, ...args: readonly string[]): Promise<SuiteRun> {
  const child = spawn(process.execPath, [FILES[suite], ...args], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}
