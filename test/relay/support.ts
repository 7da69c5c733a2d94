/** A relay as a process of its own, and browsers that talk to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, vi } from 'vitest';
import { LOOKS, type TestBrowser, useBrowser } from '../support/browser.ts';
import { createCredential } from '../support/devices.ts';
import { useControl } from '../support/grpc.ts';
import { startSdkPage } from '../support/sdk-page.ts';
import { type TestService, type TestTenant, useService } from '../support/service.ts';

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const { pid, exitCode, signalCode } of children)
    if (exitCode === null && signalCode === null) process.kill(-pid!, 'SIGKILL');
});

const ROOT = join(import.meta.dirname, '../..');

export interface Relay {
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): void;
  /** As a cut network does: nothing goes in or out until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it as an operator does: sessions end, and what they used is reported. */
  stop(): Promise<void>;
}

/** Another relay can be put through these tests: a command that reads the settings of this one from its environment. */
const COMMAND = process.env.RELAY_COMMAND ?? `'${process.execPath}' '${join(ROOT, 'relay/src/main.ts')}'`;

export async function startRelay(
  app: TestService,
  tenant: TestTenant,
  { spool, ...env }: NodeJS.ProcessEnv & { readonly spool?: string } = {},
): Promise<Relay> {
  const folder = spool ?? (await mkdtemp(join(inject('scratch'), 'relay-')));
  const port = env.PORT ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  // A group of its own, so that a signal reaches what the command starts.
  const child = spawn(`exec ${COMMAND}`, {
    shell: true,
    detached: true,
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
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  const answer = () => fetch(`${url}/healthz`);
  await vi.waitUntil(() => answer().catch(() => undefined));
  const signal = (name: NodeJS.Signals) => void process.kill(-child.pid!, name);
  return {
    url,
    kill: () => signal('SIGKILL'),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    stop: async () => {
      const exit = once(child, 'exit');
      signal('SIGTERM');
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
  readonly codec: string;
}

export interface ParticipantPage {
  readonly page: Page;
  ask<T>(step: string, argument?: unknown): Promise<T>;
  stats(): Promise<Stats[]>;
  /** Events of this name so far. */
  heard(name: string): Promise<Heard[]>;
}

/** A page in a browser profile of its own. */
async function openParticipant(
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

/** A participant who has a token for a room. */
export interface Entered extends ParticipantPage {
  readonly token: string;
}

export interface Charged {
  readonly participant: string;
  readonly tier: string;
  readonly egress: number;
  readonly ingress: number;
}

/** The size of the picture that participants publish, unless a test says otherwise. */
export const SIZE = [640, 360] as const;

/** A service, a tenant with credit, a relay, and browsers that meet there. */
export async function useRelay() {
  const site = await startSdkPage(new URL('participant-page.js', import.meta.url));
  const app = useService({ joinOrigins: [site.origin] });
  const control = useControl(app);
  const browser = useBrowser(app);
  let tenant: TestTenant;
  let credential: string;
  let relay: Relay;

  beforeAll(async () => {
    tenant = await app.paidTenant();
    ({ credential } = await createCredential(app, tenant, { publish: ['audio', 'video', 'screen'] }));
    relay = await startRelay(app, tenant);
  });
  afterAll(async () => {
    await relay?.stop();
    await site.close();
  });

  const open = () => openParticipant(browser, site);

  /** `given`: more of what the page's session gets. */
  async function enter(username: string, room: string, given: object = {}): Promise<Entered> {
    const participant = await open();
    const request = { url: app.url, credential, username, room, ...given };
    return { ...participant, token: await participant.ask<string>('join', request) };
  }

  return {
    app,
    get tenant() {
      return tenant;
    },
    get credential() {
      return credential;
    },
    get relay() {
      return relay;
    },
    open,
    enter,
    moderate: (method: unknown, request: object) =>
      control(tenant).call(method as never, request as never) as Promise<unknown>,

    /** Ann publishes, and Bob sees her. */
    async meet(room: string, { at = relay, given = {} }: { at?: Relay; given?: object } = {}) {
      const [ann, bob] = [await enter('ann', room, given), await enter('bob', room, given)];
      await ann.ask('connect', { relay: at.url, size: SIZE });
      await bob.ask('connect', { relay: at.url });
      await sees(bob);
      return { ann, bob };
    },

    /** What the ledger has of a room, for each participant. */
    async chargedIn(room: string): Promise<Map<string, Charged>> {
      const { rows } = await app.service.deps.db.query<Charged>(
        `select participant, max(tier) as tier, sum(egress_bytes)::float8 as egress,
                sum(ingress_bytes)::float8 as ingress
           from usage_records where room = $1 group by participant`,
        [room],
      );
      return new Map(rows.map((row) => [row.participant, row]));
    },
  };
}

export const picturesOf = async (participant: ParticipantPage) =>
  (await participant.stats()).filter(
    ({ kind, direction }) => kind === 'video' && direction === 'inbound-rtp',
  );

const framesOf = async (participant: ParticipantPage) =>
  sumOf((await picturesOf(participant)).map(({ frames }) => frames));

/** Pictures arrive, more than had arrived before. */
export async function sees(participant: ParticipantPage): Promise<void> {
  const before = await framesOf(participant);
  // A new connection counts from 0 again.
  const grown = async () => {
    const frames = await framesOf(participant);
    return frames > before + 20 || (frames > 0 && frames < before);
  };
  await expect.poll(grown).toBe(true);
}

export const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);

/** Bytes of RTP, as this browser counted them. */
export const bytesOf = async (participant: ParticipantPage) =>
  sumOf((await participant.stats()).map(({ bytes }) => bytes));
