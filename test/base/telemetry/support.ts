/** A service with a captured log and the sandbox as its payment provider. */
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { deviceKey } from '../../support/devices.ts';
import { ask, type TestService, useService } from '../../support/service.ts';

export interface LoggedService extends TestService {
  /** All lines of the log so far. */
  readonly log: string;
  /** The sandbox's secrets, which must never appear in a log. */
  readonly webhookSecret: string;
  metrics(): Promise<string>;
}

export function useLoggedService(level: string): LoggedService {
  const lines: string[] = [];
  const log = makeLog(level, { write: (line) => void lines.push(line) });
  const app = useService({ log, trustProxy: [] });
  // Copies the getters: the service does not exist yet.
  return Object.create(app, {
    webhookSecret: { get: () => app.config.stripeWebhookSecrets[0] },
    log: { get: () => lines.join('') },
    metrics: {
      value: async () => (await ask(`http://127.0.0.1:${app.service.opsPort}/metrics`, 'GET')).text,
    },
  });
}

/** Secrets that a tenant received. */
export interface Traffic {
  readonly keys: readonly string[];
  readonly checkoutUrls: readonly string[];
  readonly portalUrl: string;
  readonly token: string;
}

/** Typical requests of tenants, including mistakes. */
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
  // A device that joins, and one that sends its credential in the wrong place.
  const device = { name: 'kiosk', publish: ['audio'] };
  const { credential } = (await app.request('POST', '/v1/device-credentials', { key, body: device })).json;
  const join = { key: credential, body: { username: 'ann', key: deviceKey() } };
  const { token } = (await app.request('POST', '/join', join)).json;
  await app.request('POST', '/join', { key: credential, body: { username: credential, device: credential } });
  await app.request('GET', `/v1/${token}`, { key: token });
  // A provider event with a forged signature, and a provider that fails.
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
