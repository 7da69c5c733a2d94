/** The reference relay as a process of its own, for one tenant. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endChild } from '../scripts/own-service.ts';
import { findFreePort } from '../src/run/free-port.ts';

const RELAY = join(import.meta.dirname, '../relay');

export interface RelayOptions {
  /** The relay's base URL for devices. */
  readonly url: string;
  /** Base URL of the service. */
  readonly service: string;
  readonly tenant: string;
  readonly key: string;
}

export interface RelayProcess {
  /** Where it listens. */
  readonly address: string;
  /** Until it serves. Fails with what it said. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** Fails if the relay's packages are not installed, which the service and its tests do not need. */
export function requireRelayPackages(): void {
  if (existsSync(join(RELAY, 'node_modules/node-datachannel'))) return;
  throw new Error("the relay's packages are missing: node scripts/setup.mjs relay installs them");
}

/** It reports each second, so that the balance moves while people watch. */
export async function spawnRelay({ url, service, tenant, key }: RelayOptions): Promise<RelayProcess> {
  const port = await findFreePort('127.0.0.1');
  const spool = await mkdtemp(join(tmpdir(), 'boxoffice-demo-relay-'));
  const child = spawn(process.execPath, [join(RELAY, 'src/main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      RELAY_URL: url,
      TRUST_PROXY: '127.0.0.1',
      BOXOFFICE_URL: service,
      ISSUER: service,
      TENANT: tenant,
      RELAY_KEY: key,
      RELAY_KEY_FILE: '',
      SPOOL: spool,
      REPORT_SECONDS: '1',
      ...(hasNetwork() ? {} : { UDP_ADDRESS: '127.0.0.1' }),
    },
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    address: `http://127.0.0.1:${port}`,
    ready: async () => {
      const { done } = await lines.next();
      if (done) throw new Error(`the relay did not start: ${said}`);
    },
    stop: async () => {
      await endChild(child);
      await rm(spool, { recursive: true, force: true });
    },
  };
}

/** Browsers that have a network do not always use the loopback address for media. */
function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some(({ internal }) => !internal));
}
