import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, it } from 'vitest';
import { openPool } from '../../../src/base/db/pool.ts';
import { Metrics } from '../../../src/base/telemetry/metrics.ts';
import { createCredential, join } from '../../support/devices.ts';
import { useControl } from '../../support/grpc.ts';
import { ask, usageRecord, useService } from '../../support/service.ts';
import { setLimits } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);

async function read(): Promise<Map<string, number>> {
  const { text, headers, status } = await ask(`http://127.0.0.1:${app.service.opsPort}/metrics`, 'GET');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

describe('metrics', () => {
  it('count requests and their outcomes', async () => {
    const tenant = await app.paidTenant();
    const report = (...records: unknown[]) =>
      app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    // 10 micros a second at most: 40 micros each.
    const [a, b, c] = [1, 2, 3].map(() => usageRecord({ tier: 'audio', seconds: 4, egress_bytes: 2 ** 31 }));
    await report(a, b);
    await report(b, c, { ...a, seconds: 5 });
    await app.service.deps.db.query('update tenants set exempt = true');
    await report(usageRecord());
    await report({ ...c, id: '' });
    await app.request('GET', '/v1/billing');
    await app.request('GET', '/nowhere/at/all');
    await app.request('GET', '/v1/keys/0123456789abcdef');

    await expect.poll(async () => (await read()).get(requests('GET', '/v1/keys/:id', 405))).toBe(1);
    const metrics = await read();
    expect(Object.fromEntries(metrics)).toMatchObject({
      [requests('POST', '/v1/signup', 201)]: 1,
      [requests('POST', '/v1/keys', 201)]: 1,
      [requests('POST', '/v1/usage', 200)]: 3,
      [requests('POST', '/v1/usage', 400)]: 1,
      [requests('GET', '/v1/billing', 401)]: 1,
      [requests('GET', 'none', 404)]: 1,
      'boxoffice_http_request_duration_seconds_count{method="POST",route="/v1/usage"}': 4,
      'boxoffice_http_request_duration_seconds_bucket{le="+Inf",method="POST",route="/v1/usage"}': 4,
      boxoffice_charge_duration_seconds_count: 3,
      boxoffice_charge_batch_records_count: 3,
      boxoffice_charge_batch_records_sum: 6,
      'boxoffice_usage_records_total{outcome="charged"}': 3,
      'boxoffice_usage_records_total{outcome="duplicate"}': 2,
      'boxoffice_usage_records_total{outcome="unbilled"}': 1,
      'boxoffice_usage_records_total{outcome="conflict"}': 1,
      boxoffice_charged_micros_total: 120,
      'boxoffice_top_ups_total{kind="top_up",outcome="succeeded"}': 1,
      boxoffice_ledger_drift_micros: 0,
      'boxoffice_pool_connections{state="waiting"}': 0,
    });
    expect(metrics.get('boxoffice_pool_connections{state="idle"}')).toBeGreaterThan(0);
    expect(metrics.get('process_cpu_seconds_total')).toBeGreaterThan(0);
    // Unknown paths create no new series.
    expect([...metrics.keys()].join('\n')).not.toContain('nowhere');
  });

  it('count joins by outcome', async () => {
    const before = await read();
    const tenant = await app.signUp();
    const body = { name: 'kiosk', publish: ['audio'] };
    const { credential } = (await app.request('POST', '/v1/device-credentials', { key: tenant.key, body }))
      .json;
    const join = (key?: string) =>
      app.request('POST', '/join', { key, body: { username: 'ann', device: 'A'.repeat(43) } });
    await join();
    await join(credential);
    await app.service.deps.db.query(`update tenants set status = 'active', exempt = true`);
    await join(credential);

    const outcome = (name: string) => `boxoffice_joins_total{outcome="${name}"}`;
    await expect.poll(async () => (await read()).get(outcome('joined'))).toBe(1);
    const after = await read();
    for (const name of ['joined', 'invalid_api_key', 'payment_required']) {
      expect([name, after.get(outcome(name))! - (before.get(outcome(name)) ?? 0)]).toEqual([name, 1]);
    }
  });

  function requests(method: string, route: string, status: number): string {
    return `boxoffice_http_requests_total{method="${method}",route="${route}",status="${status}"}`;
  }

  it('count refusals by limit, whichever door refuses', async () => {
    const tenant = await app.paidTenant();
    const { credential } = await createCredential(app, tenant, {});
    const limits = { api_keys: 1, rooms: 1, bans: 1 };
    await setLimits(app.service.deps.db, tenant, limits);
    const control = controlOf(tenant);
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one more' } });
    await join(app, credential, { room: 'first' });
    await join(app, credential, { room: 'second' });
    await expect(control.call(RoomService.method.createRoom, { room: 'third' })).rejects.toThrow('limit');

    const refusals = new Map([...(await read())].filter(([name]) => name.includes('limit_refusals')));
    expect(Object.fromEntries(refusals)).toStrictEqual({
      'boxoffice_limit_refusals_total{limit="api_keys"}': 1,
      'boxoffice_limit_refusals_total{limit="rooms"}': 2,
    });
  });
});

describe('watchPool', () => {
  it('shows busy connections and waiting requests', async () => {
    const pool = openPool(app.service.deps.db.options.connectionString!, { max: 1 });
    const metrics = new Metrics();
    metrics.watchPool(pool);
    const taken = await pool.connect();
    const waiting = pool.connect();
    const values = async () =>
      Object.fromEntries(
        (await metrics.registry.getSingleMetric('boxoffice_pool_connections')!.get()).values.map((each) => [
          each.labels.state,
          each.value,
        ]),
      );
    expect(await values()).toEqual({ idle: 0, busy: 1, waiting: 1 });
    taken.release();
    (await waiting).release();
    expect(await values()).toEqual({ idle: 1, busy: 0, waiting: 0 });
    await pool.end();
  });
});
