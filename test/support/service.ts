/** A whole service for a test file: its own database, real listeners, and the sandbox as the payment provider. */
import type { Logger } from 'pino';
import Stripe from 'stripe';
import { afterAll, beforeAll, inject } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { makeLog } from '../../src/base/telemetry/log.ts';
import { parseTenantId } from '../../src/base/tenants/tenant.ts';
import { STRIPE_API_VERSION } from '../../src/money/payments/provider.ts';
import { archiveRecords } from '../../src/money/records/archive-records.ts';
import {
  type Service,
  type ServiceConfig,
  startService,
  type WebhookOptions,
} from '../../src/run/service.ts';
import { openMailbox } from '../../src/run/start-sandbox.ts';
import { bareConfig } from './bare-config.ts';
import { type TestDatabase, useDatabase } from './database.ts';
import { emptyLog } from './events.ts';
import { checkEvent } from './real-events.ts';

/** The service's key at the payment provider. */
export const SECRET_KEY = 'sk_test_of_the_tests';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface RequestOptions {
  readonly key?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, with a JSON content type unless `headers` has another one. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export interface TestService {
  /** Valid inside `beforeAll` and tests. */
  readonly service: Service;
  readonly sandbox: Sandbox;
  readonly stripe: Stripe;
  readonly url: string;
  readonly database: TestDatabase;
  /** Opens the database as its owner, whatever role the service has. */
  readonly ownerUrl: string;
  /** Settings of every service that `another` starts. */
  readonly config: ServiceConfig;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A new tenant, which does not count as a signup of this address. Its event log is empty. */
  signUp(options?: { name?: string; email?: string }): Promise<TestTenant>;
  /** A tenant that has paid `cents` with a test card. Its event log is empty. */
  paidTenant(options?: { cents?: number; card?: string }): Promise<TestTenant>;
  /** Pay a checkout of the tenant on the sandbox, and wait until the credit is there. */
  pay(
    tenant: TestTenant,
    options?: { cents?: number; card?: string; country?: string },
  ): Promise<{ payment: string }>;
  /** Start another service on the same database and sandbox. */
  another(): Promise<{ url: string; service: Service }>;
  /** Wait until every provider event of the sandbox was delivered. */
  settled(): Promise<void>;
}

export interface TestTenant {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly relayKey: string;
  readonly relayKeyId: string;
}

export function useService(
  overrides: Partial<ServiceConfig> & {
    payments?: boolean;
    retryDelaysMs?: number[];
    log?: Logger;
    /** Default: as in production. */
    webhooks?: WebhookOptions;
    /** The services run as a role that owns nothing. */
    isRestricted?: boolean;
    /** The sandbox shows the mails of the service, as with `npm start`. */
    hasMailbox?: boolean;
    /** The file appends events that no operation would. */
    makesUpEvents?: boolean;
  } = {},
): TestService {
  const {
    payments = true,
    retryDelaysMs = [5, 10, 20, 40, 80, 160, 320, 640],
    log = makeLog(process.env.TEST_LOG_LEVEL ?? 'silent'),
    isRestricted = false,
    hasMailbox = false,
    makesUpEvents = false,
    webhooks,
    ...config
  } = overrides;
  const database = useDatabase({ makesUpEvents });
  const secrets: string[] = [];
  const open: Service[] = [];
  let mailbox: ReturnType<typeof openMailbox> | undefined;
  let sandbox: Sandbox;
  let stripe: Stripe;
  let service: Service;

  const settings = (): ServiceConfig => ({
    ...bareConfig(isRestricted ? database.applicationUrl : database.url),
    stripeSecretKey: payments ? SECRET_KEY : undefined,
    stripeWebhookSecrets: secrets,
    stripeApiBase: sandbox.url,
    trustProxy: ['127.0.0.1'],
    mailboxUrl: hasMailbox ? `${sandbox.url}/mailbox` : undefined,
    ...config,
  });
  const start = async () => {
    const started = await startService(settings(), log, { webhooks });
    let stopping: Promise<void> | undefined;
    const stop = () => {
      stopping ??= started.stop();
      return stopping;
    };
    // A test may stop it before the end of the file.
    const stoppable = { ...started, stop };
    open.push(stoppable);
    return stoppable;
  };

  beforeAll(async () => {
    const { secretsKey, publicUrl } = { ...bareConfig(database.url), ...config };
    mailbox = hasMailbox ? openMailbox({ databaseUrl: database.url, secretsKey, publicUrl }) : undefined;
    sandbox = await startSandbox({
      port: 0,
      secretKey: SECRET_KEY,
      webhooks: [],
      retryDelaysMs,
      ...(mailbox && { mailbox }),
    });
    stripe = new Stripe(SECRET_KEY, {
      host: '127.0.0.1',
      port: sandbox.port,
      protocol: 'http',
      apiVersion: STRIPE_API_VERSION,
      telemetry: false,
    });
    service = await start();
    const endpoint = await stripe.webhookEndpoints.create({
      url: `http://127.0.0.1:${service.port}/v1/stripe/webhook`,
      enabled_events: ['*'],
    });
    secrets.push(endpoint.secret!);
  });
  afterAll(async () => {
    await Promise.all(open.map((each) => each.stop()));
    await sandbox?.close();
    await mailbox?.close();
  });

  const request: TestService['request'] = async (method, path, options = {}) => {
    const answer = await ask(`http://127.0.0.1:${service.port}${path}`, method, options);
    if (method === 'GET' && path.startsWith('/v1/events') && answer.status === 200 && !makesUpEvents) {
      for (const event of answer.json.events) checkEvent(event);
    }
    if (path === '/v1/usage' && method === 'POST' && inject('archives')) {
      await archiveRecords({ ...service.deps, config: { archiveAfterSeconds: 0 } });
    }
    return answer;
  };

  let signups = 0;
  const signUp: TestService['signUp'] = async ({ name = 'Ada Video', email = 'ada@example.com' } = {}) => {
    signups += 1;
    const signedUp = await request('POST', '/v1/signup', {
      body: { name, email },
      headers: { 'x-forwarded-for': `198.51.${Math.floor(signups / 250)}.${signups % 250}` },
    });
    if (signedUp.status !== 201) throw new Error(`signup: ${signedUp.status} ${signedUp.text}`);
    const { tenant: id, api_key: key, key_id: keyId } = signedUp.json;
    const relay = await request('POST', '/v1/keys', { key, body: { name: 'relay', kind: 'relay' } });
    await emptyLog(service.deps.db, parseTenantId(id)!);
    return { id, key, keyId, relayKey: relay.json.api_key, relayKeyId: relay.json.key.id };
  };

  const pay: TestService['pay'] = async (
    tenant,
    { cents = 2000, card = '4242424242424242', country } = {},
  ) => {
    const checkout = await request('POST', '/v1/billing/checkout', {
      key: tenant.key,
      body: { amount_cents: cents },
    });
    const session = /cs_test_\w+/.exec(checkout.json.checkout_url)![0];
    const intent = sandbox.control.pay(session, { card, country });
    await sandbox.control.idle();
    return { payment: intent.id };
  };

  return {
    get service() {
      return service;
    },
    get sandbox() {
      return sandbox;
    },
    get stripe() {
      return stripe;
    },
    get url() {
      return `http://127.0.0.1:${service.port}`;
    },
    database,
    get ownerUrl() {
      return database.url;
    },
    get config() {
      return settings();
    },
    request,
    signUp,
    pay,
    paidTenant: async (options) => {
      const tenant = await signUp();
      await pay(tenant, options);
      await emptyLog(service.deps.db, parseTenantId(tenant.id)!);
      return tenant;
    },
    another: async () => {
      const started = await start();
      return { service: started, url: `http://127.0.0.1:${started.port}` };
    },
    settled: () => sandbox.control.idle(),
  };
}

/** One HTTP request with its complete answer. */
export async function ask(url: string, method: string, options: RequestOptions = {}): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: body as string }),
  });
  const text = await answer.text();
  const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '') && text !== '';
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

let records = 0;

/** A valid usage record with an id of its own. */
export function usageRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  records += 1;
  return {
    id: `record-${records}`,
    role: 'host',
    tier: 'hd',
    seconds: 60,
    egress_bytes: 50_000_000,
    ingress_bytes: 1_000_000,
    ...fields,
  };
}
