/** Packages for comparison that the service does not depend on: installed on first use, in a folder of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Pool } from '../src/base/db/pool.ts';
import type { Bench } from './benchmark.ts';

const FOLDER = new URL('./peers/', import.meta.url);

/** `peers/better-auth.js`, which only loads if its packages are installed. */
export interface BetterAuth {
  makeKey(): Promise<string>;
  verify(key: string): Promise<boolean>;
}

/** Loads the peer, and installs it first if necessary. */
export async function openBetterAuth(
  bench: Bench,
  pool: Pool,
  options: { readonly rateLimit: boolean },
): Promise<BetterAuth> {
  await installPeers(bench);
  await pretendProduction(bench);
  const peer = await import(new URL('better-auth.js', FOLDER).href);
  return peer.openBetterAuth(pool, options);
}

/** The peer is faster in production. Later benchmarks are not: their services would ask for settings. */
async function pretendProduction(bench: Bench): Promise<void> {
  if (process.env.NODE_ENV !== undefined) return;
  process.env.NODE_ENV = 'production';
  await bench.use(Promise.resolve(), async () => {
    delete process.env.NODE_ENV;
  });
}

async function installPeers(bench: Bench): Promise<void> {
  if (await isInstalled()) return;
  bench.progress('installing what is compared with (npm ci in bench/peers); this takes a moment');
  const npm = spawn('npm', ['ci', '--loglevel=error'], {
    cwd: fileURLToPath(FOLDER),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci failed in ${fileURLToPath(FOLDER)}`);
}

/** npm writes this file at the end of an installation. */
async function isInstalled(): Promise<boolean> {
  const [wanted, installed] = await Promise.all([
    readPackages('package-lock.json'),
    readPackages('node_modules/.package-lock.json'),
  ]);
  return Object.entries(wanted).every(
    ([path, { integrity, optional }]) => !path || optional || installed[path]?.integrity === integrity,
  );
}

type Packages = Record<string, { readonly integrity?: string; readonly optional?: boolean }>;

async function readPackages(file: string): Promise<Packages> {
  const text = await readFile(new URL(file, FOLDER), 'utf8').catch(() => '{}');
  return JSON.parse(text).packages ?? {};
}
