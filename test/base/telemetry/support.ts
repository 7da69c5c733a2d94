/** A service whose log is read, with the sandbox as the payment provider. */
import { generateKeyPairSync } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { STRIPE_API_VERSION } from '../../../src/money/payments/provider.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { useDatabase } from '../../support/database.ts';
import { type Answer, ask, type RequestOptions } from '../../support/service.ts';

export const STRIPE_KEY = 'sk_test_canaryCanaryCanary';

export interface LoggedService {
  readonly service: Service;
  readonly sandbox: Sandbox;
  /** What an outsider must never read in a log: the secrets of the far side. */
  readonly webhookSecret: string;
  /** All lines of the log so far. */
  readonly log: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  metrics(): Promise<string>;
}

export function useLoggedService(level: string): LoggedService {
  const database = useDatabase();
  const lines: string[] = [];
  let sandbox: Sandbox;
  let service: Service;
  let webhookSecret: string;

  beforeAll(async () => {
    sandbox = await startSandbox({
      port: 0,
      secretKey: STRIPE_KEY,
      webhooks: [],
      retryDelaysMs: [5, 10, 20, 40],
    });
    const webhookSecrets: string[] = [];
    service = await startService(
      {
        ...bareConfig(database.url),
        stripeSecretKey: STRIPE_KEY,
        stripeWebhookSecrets: webhookSecrets,
        stripeApiBase: sandbox.url,
      },
      makeLog(level, { write: (line) => void lines.push(line) }),
    );
    const stripe = new Stripe(STRIPE_KEY, {
      host: '127.0.0.1',
      port: sandbox.port,
      protocol: 'http',
      apiVersion: STRIPE_API_VERSION,
      telemetry: false,
    });
    const url = `http://127.0.0.1:${service.port}/v1/stripe/webhook`;
    webhookSecret = (await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] })).secret!;
    webhookSecrets.push(webhookSecret);
  });
  afterAll(async () => {
    await service?.stop();
    await sandbox?.close();
  });

  return {
    get service() {
      return service;
    },
    get sandbox() {
      return sandbox;
    },
    get webhookSecret() {
      return webhookSecret;
    },
    get log() {
      return lines.join('');
    },
    request: (method, path, options) => ask(`http://127.0.0.1:${service.port}${path}`, method, options),
    metrics: async () => (await ask(`http://127.0.0.1:${service.opsPort}/metrics`, 'GET')).text,
  };
}

/** Secrets that a tenant came by. */
export interface Traffic {
  readonly keys: readonly string[];
  readonly checkoutUrls: readonly string[];
  readonly portalUrl: string;
  readonly token: string;
}

/** What tenants do in a day, with the mistakes that they make. */
export async function makeTraffic(app: LoggedService): Promise<Traffic> {
  const { json: tenant } = await app.request('POST', '/v1/signup', {
    body: { name: 'Ada Video', email: 'ada@example.com' },
  });
  const key: string = tenant.api_key;
  const relay = (await app.request('POST', '/v1/keys', { key, body: { name: 'relay', kind: 'relay' } })).json;
  const rotated = (await app.request('POST', `/v1/keys/${relay.key.id}/rotate`, { key, body: {} })).json;
  const checkout = (await app.request('POST', '/v1/billing/checkout', { key, body: { amount_cents: 5000 } }))
    .json;
  app.sandbox.control.pay(/cs_test_\w+/.exec(checkout.checkout_url)![0], { card: '4242424242424242' });
  await app.sandbox.control.idle();
  const portal = (await app.request('POST', '/v1/billing/portal', { key })).json;

  const record = { id: 'a', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 1, ingress_bytes: 1 };
  const usage = { key: rotated.api_key, body: { records: [record] } };
  await app.request('POST', '/v1/usage', usage);
  await app.request('GET', '/v1/billing', { key });
  // A key in the wrong place, of the wrong kind, in a path, in a query, and in a body.
  await app.request('GET', '/v1/billing', { key: rotated.api_key });
  await app.request('GET', `/v1/keys/${key}`, { key });
  await app.request('GET', `/v1/rates?key=${key}`);
  await app.request('POST', '/v1/keys', { key, body: { name: 'relay', kind: key } });
  await app.request('GET', `/checkout/${key}`);
  // A device that joins, and one that puts its credential into the wrong place.
  const device = { name: 'kiosk', publish: ['audio'] };
  const { credential } = (await app.request('POST', '/v1/device-credentials', { key, body: device })).json;
  const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const join = { key: credential, body: { username: 'ann', key: publicKey } };
  const { token } = (await app.request('POST', '/join', join)).json;
  await app.request('POST', '/join', { key: credential, body: { username: credential, device: credential } });
  await app.request('GET', `/v1/${token}`, { key: token });
  // Notifications with a signature that somebody invented, and a provider that fails.
  await app.request('POST', '/v1/stripe/webhook', {
    body: { id: 'evt_1', secret: app.webhookSecret },
    headers: { 'stripe-signature': `t=1,v1=${app.webhookSecret}` },
  });
  app.sandbox.control.fault({ effect: 'fail_500', path: '/v1/checkout/sessions', count: 4 });
  await app.request('POST', '/v1/billing/checkout', { key, body: { amount_cents: 5000 } });
  return {
    keys: [key, relay.api_key, rotated.api_key, credential],
    checkoutUrls: [tenant.checkout_url, checkout.checkout_url],
    portalUrl: portal.portal_url,
    token,
  };
}
