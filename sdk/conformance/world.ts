/** What the SDKs are run against: a real service with a real PostgreSQL, tenants, and the far side of payments. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pino from 'pino';
import Stripe from 'stripe';
import { startSandbox } from '../../sandbox/server.ts';
import type { KeyCeiling } from '../../src/access/rights/key-ceiling.ts';
import type { Pool } from '../../src/base/db/pool.ts';
import type { LimitOverrides } from '../../src/base/tenants/limits.ts';
import { renderTenantId, type TenantId, type TenantStatus } from '../../src/base/tenants/tenant.ts';
import { adjustCredit } from '../../src/money/ledger/adjust-credit.ts';
import { STRIPE_API_VERSION } from '../../src/money/payments/provider.ts';
import { startEmbedded } from '../../src/run/embedded-postgres/embedded-postgres.ts';
import { type Service, type ServiceConfig, startService } from '../../src/run/service.ts';
import { bareConfig } from '../../test/support/bare-config.ts';
import { emptyLog } from '../../test/support/events.ts';
import { changeReferenceTable } from '../../test/support/reference-tables.ts';
import { openScratch } from '../../test/support/scratch.ts';
import { makeKey, makeTenant, OPERATOR } from '../../test/support/tenants.ts';
import { Boxoffice } from '../typescript/src/backend/index.ts';

/** The service's key at the payment provider. */
const SECRET_KEY = 'sk_test_of_the_conformance_suite';
/** What a tenant starts with, in micros. */
const CREDIT = 20_000_000n;
const RUN_SERVICE = join(import.meta.dirname, 'run-service.ts');

export interface Tenant {
  /** As on the wire. */
  readonly id: string;
  /** As in the database. */
  readonly tenant: TenantId;
  readonly key: string;
  readonly relayKey: string;
}

export interface TenantOptions {
  readonly status?: TenantStatus;
  /** Without it, the tenant has no credit. */
  readonly credit?: boolean;
  readonly limits?: LimitOverrides;
  readonly ceiling?: KeyCeiling;
}

/** A service in a process of its own, which a step kills. */
export interface ChildService {
  readonly port: number;
  readonly grpcPort: number;
  /** Stop its process for now: connections stay, and nothing is answered. */
  pause(): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface World {
  readonly db: Pool;
  readonly service: Service;
  readonly url: string;
  readonly controlUrl: string;
  /** A new tenant, written into the database. Its event log is empty. */
  newTenant(options?: TenantOptions): Promise<Tenant>;
  /** Pay a checkout with a card, which is saved. */
  pay(tenant: Tenant): Promise<void>;
  /** A client of the suite itself, to prepare and to look. */
  direct(tenant: Tenant): Boxoffice;
  /** Another service on the same database, in this process. */
  another(): Promise<Service>;
  /** Another service on the same database, in a process of its own. It hears of no payment. */
  startChild(): Promise<ChildService>;
  /** Forget how often this machine signed up. */
  forgetSignups(): Promise<void>;
  close(): Promise<void>;
}

type Close = () => Promise<unknown> | unknown;

/** Without `databaseUrl`, on a PostgreSQL of its own. */
export async function openWorld({ databaseUrl }: { databaseUrl?: string | undefined } = {}): Promise<World> {
  const closing: Close[] = [];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    return await open(databaseUrl ?? (await startDatabase(closing)), closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function startDatabase(closing: Close[]): Promise<string> {
  const scratch = openScratch('boxoffice-conformance-');
  closing.push(() => scratch.remove());
  const log = { info: () => undefined, warn: console.warn };
  const server = await startEmbedded({ dataDir: join(scratch.folder, 'server'), log, durable: false });
  closing.push(() => server.stop());
  return server.url;
}

async function open(databaseUrl: string, closing: Close[], close: () => Promise<void>): Promise<World> {
  const sandbox = await startSandbox({
    port: 0,
    secretKey: SECRET_KEY,
    webhooks: [],
    retryDelaysMs: [5, 10, 20, 40, 80, 160, 320, 640],
  });
  closing.push(() => sandbox.close());
  const secrets: string[] = [];
  const config: ServiceConfig = {
    ...bareConfig(databaseUrl),
    stripeSecretKey: SECRET_KEY,
    stripeWebhookSecrets: secrets,
    stripeApiBase: sandbox.url,
    confusableUsernames: 'refuse',
  };
  const another = async () => {
    const started = await startService(config, pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }));
    let stopping: Promise<void> | undefined;
    const stop = () => {
      stopping ??= started.stop();
      return stopping;
    };
    closing.push(stop);
    return { ...started, stop };
  };
  const service = await another();
  secrets.push(await receiveWebhooks(sandbox.port, service.port));

  const url = `http://127.0.0.1:${service.port}`;
  const controlUrl = `http://127.0.0.1:${service.grpcPort}`;
  const { db } = service.deps;
  const clients = new Map<string, Boxoffice>();
  closing.push(() => {
    for (const client of clients.values()) client.close();
  });
  const direct = ({ id, key }: Tenant) => {
    const client = clients.get(key) ?? new Boxoffice({ url, controlUrl, apiKey: key, tenant: id });
    clients.set(key, client);
    return client;
  };
  return {
    db,
    service,
    url,
    controlUrl,
    newTenant: (options) => newTenant(db, options),
    pay: async (tenant) => {
      const { checkoutUrl } = await direct(tenant).billing.checkout({ amountCents: 2000 });
      const session = /cs_test_\w+/.exec(checkoutUrl)![0];
      sandbox.control.pay(session, { card: '4242424242424242' });
      await sandbox.control.idle();
      await emptyLog(db, tenant.tenant);
    },
    direct,
    another,
    startChild: () =>
      startChild({ databaseUrl, stripeSecretKey: SECRET_KEY, stripeApiBase: sandbox.url }, closing),
    forgetSignups: async () => {
      await db.query(`delete from rate_limits where key like 'signup:%'`);
    },
    close,
  };
}

/** Returns the secret that the payment provider signs with. */
async function receiveWebhooks(sandboxPort: number, port: number): Promise<string> {
  const stripe = new Stripe(SECRET_KEY, {
    host: '127.0.0.1',
    port: sandboxPort,
    protocol: 'http',
    apiVersion: STRIPE_API_VERSION,
    telemetry: false,
  });
  const url = `http://127.0.0.1:${port}/v1/stripe/webhook`;
  const endpoint = await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] });
  return endpoint.secret!;
}

async function newTenant(
  db: Pool,
  { status = 'active', credit = true, limits, ceiling }: TenantOptions = {},
): Promise<Tenant> {
  const tenant = await makeTenant(db);
  if (credit) await adjustCredit(db, OPERATOR, tenant, { amount: CREDIT, reason: 'a gift', id: undefined });
  await changeReferenceTable(db, 'update tenants set status = $2, limits = $3 where id = $1', [
    tenant,
    status,
    limits ?? null,
  ]);
  const { plaintext: key } = await makeKey(db, tenant, 'backend', ceiling);
  const { plaintext: relayKey } = await makeKey(db, tenant, 'relay');
  await emptyLog(db, tenant);
  return { id: renderTenantId(tenant), tenant, key, relayKey };
}

async function startChild(changes: Partial<ServiceConfig>, closing: Close[]): Promise<ChildService> {
  const child: ChildProcess = spawn(process.execPath, [RUN_SERVICE, JSON.stringify(changes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  closing.push(kill);
  const [line] = await once(createInterface(child.stdout!), 'line');
  const { port, grpcPort } = JSON.parse(line);
  return { port, grpcPort, pause: () => void child.kill('SIGSTOP'), kill };
}
