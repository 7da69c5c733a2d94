import { readFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, it } from 'vitest';
import { readRelease } from '../../../scripts/release-names.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
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

describe('/metrics', () => {
  /** A family of series: its name and type, and the names and labels of its samples. */
  interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly samples: { readonly name: string; readonly labels: readonly string[] }[];
  }

  async function readFamilies(): Promise<Family[]> {
    const { text } = await ask(`http://127.0.0.1:${app.service.opsPort}/metrics`, 'GET');
    const families: Family[] = [];
    let help = '';
    for (const line of text.split('\n')) {
      const [, told] = /^# HELP \S+ ?(.*)$/.exec(line) ?? [];
      if (told !== undefined) help = told;
      const [, name, type] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
      if (name) families.push({ name, help, type: type!, samples: [] });
      const [, sample, labels = ''] = /^([a-z]\w*)(?:\{(.*)\})? /i.exec(line) ?? [];
      if (!sample) continue;
      const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!);
      families.at(-1)!.samples.push({ name: sample, labels: names });
    }
    return families;
  }

  /** What `promtool check metrics` complains about. */
  function complaintsOf({ name, help, type, samples }: Family): string[] {
    const parts = name.split('_');
    const labels = samples.flatMap((sample) => sample.labels);
    const rules: Record<string, boolean> = {
      'needs a help text': help.trim() === '',
      'a counter ends in _total': type === 'counter' && !name.endsWith('_total'),
      'only a counter ends in _total': type !== 'counter' && name.endsWith('_total'),
      'a name does not end as parts of a histogram do': /_(count|sum|bucket)$/.test(name),
      'a name does not hold its type': ['counter', 'gauge', 'histogram', 'summary', 'untyped'].some((each) =>
        parts.includes(each),
      ),
      'a unit is a base unit':
        /_(milli|micro|nano|kilo|kibi|mega|mebi|giga|gibi)(second|byte|gram|meter)s?(_|$)/.test(name),
      'a unit is not abbreviated': /_(s|ms|us|ns|sec|b|kb|mb|gb|tb|m|h|d)(_|$)/.test(name),
      'time is in seconds': /_(minutes|hours|days|weeks)(_|$)/.test(name),
      'names are in snake_case': !/^[a-z][a-z0-9_]*$/.test(name),
      'labels are in snake_case': labels.some((label) => !/^[a-z][a-z0-9_]*$/.test(label)),
      'le belongs to histograms': type !== 'histogram' && labels.includes('le'),
      'quantile belongs to summaries': type !== 'summary' && labels.includes('quantile'),
    };
    return Object.keys(rules)
      .filter((rule) => rules[rule])
      .map((rule) => `${name}: ${rule}`);
  }

  it('keeps the rules of Prometheus for names', async () => {
    const families = await readFamilies();
    expect(families.length).toBeGreaterThan(40);
    expect(families.flatMap(complaintsOf)).toEqual([]);
  });

  it('is told in docs/metrics.md, family by family', async () => {
    const text = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    const own = (await readFamilies()).filter(({ name }) => name.startsWith('boxoffice_'));
    const documented = [...text.matchAll(/^\| `(boxoffice_\w+)` +\| (\w+) /gm)].map(([, ...row]) => row);
    expect(documented.sort()).toEqual(own.map(({ name, type }) => [name, type]).sort());
  });

  it('has the versions of the service and of Node', async () => {
    const metrics = await read();
    const { version } = readRelease(joinPath(import.meta.dirname, '../../..'));
    expect(metrics.get(`boxoffice_build_info{version="${version}",node="${process.version}"}`)).toBe(1);
  });
});

describe('watchPools', () => {
  it('shows busy connections and waiting requests', async () => {
    const pool = openPool(app.service.deps.db.options.connectionString!, { max: 1 });
    const metrics = makeMetrics();
    metrics.watchPools([pool]);
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
