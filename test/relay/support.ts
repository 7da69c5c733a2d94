/** A relay as a process of its own, and browsers that talk to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { afterAll, inject } from 'vitest';
import type { TestBrowser } from '../support/browser.ts';
import { LOOKS } from '../support/browser.ts';
import type { TestService, TestTenant } from '../support/service.ts';

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

const ROOT = join(import.meta.dirname, '../..');

export interface Relay {
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): void;
  /** Ends it as an operator does: sessions end, and what they used is reported. */
  stop(): Promise<void>;
}

export async function startRelay(
  app: TestService,
  tenant: TestTenant,
  { spool, ...env }: NodeJS.ProcessEnv & { readonly spool?: string } = {},
): Promise<Relay> {
  const folder = spool ?? (await mkdtemp(join(inject('scratch'), 'relay-')));
  const port = env.PORT ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(ROOT, 'relay/src/main.ts')], {
    env: {
      ...process.env,
      PORT: String(port),
      RELAY_URL: url,
      BOXOFFICE_URL: app.url,
      ISSUER: app.service.deps.config.publicUrl,
      TENANT: tenant.id,
      RELAY_KEY: tenant.relayKey,
      SPOOL: folder,
      UDP_ADDRESS: '127.0.0.1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  await once(createInterface(child.stdout), 'line');
  return {
    url,
    kill: () => void child.kill('SIGKILL'),
    stop: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

export interface Heard {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Stats {
  readonly direction: 'inbound-rtp' | 'outbound-rtp';
  readonly kind: 'audio' | 'video';
  /** Headers included. */
  readonly bytes: number;
  readonly frames: number;
  readonly width: number;
}

export interface ParticipantPage {
  readonly page: Page;
  ask<T>(step: string, argument?: unknown): Promise<T>;
  stats(): Promise<Stats[]>;
  /** Events of this name so far. */
  heard(name: string): Promise<Heard[]>;
}

/** A page in a browser profile of its own. */
export async function openParticipant(
  browser: TestBrowser,
  { origin }: { readonly origin: string },
): Promise<ParticipantPage> {
  const { page } = await browser.open(LOOKS[0]);
  await page.clock.install();
  await page.goto(origin);
  await page.waitForFunction('globalThis.participant');
  return {
    page,
    ask: (step, argument) => page.evaluate(`participant.${step}(${JSON.stringify(argument) ?? ''})`),
    stats: () => page.evaluate('participant.stats()'),
    heard: (name) => page.evaluate(`participant.heard.filter((each) => each.name === '${name}')`),
  };
}
