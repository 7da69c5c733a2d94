import http from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
import { buildOps, watchProcess } from '../../../src/doors/ops/server.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../base/db/proxy.ts';
import { ask, useService } from '../../support/service.ts';

const app = useService();

describe('the operator’s port', () => {
  const get = (path: string) => ask(`http://127.0.0.1:${app.service.opsPort}${path}`, 'GET');

  it('reports liveness and readiness', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await get('/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
    expect(await get('/metrics')).toMatchObject({ status: 200 });
  });

  it('is not the public port', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await app.request('GET', path)).status).toBe(404);
    }
    expect((await get('/v1/rates')).status).toBe(404);
  });
});

describe('the Host of a request', () => {
  const PATHS = ['/healthz', '/readyz', '/metrics', '/', '/console', '/console/login', '/nothing'];
  /** `fetch` sends a `Host` of its own. */
  const statusOf = (host: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const url = `http://127.0.0.1:${app.service.opsPort}${path}`;
      const sent = http.get(url, { headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', reject);
    });
  const statusesFor = (host: string) => Promise.all(PATHS.map((path) => statusOf(host, path)));

  it.each([
    'evil.example',
    'evil.example:8083',
    '192.0.2.1',
    '[::1]:80',
    'ops.test.evil.example',
    'localhost.evil',
  ])('is refused by every route unless it is configured: %s', async (host) => {
    expect(await statusesFor(host)).toEqual(PATHS.map(() => 421));
  });

  it.each(['127.0.0.1', '127.0.0.1:1', 'localhost:8083', 'LOCALHOST', 'ops.test', 'OPS.test:80'])(
    'may be the address of the connection, loopback, or that of OPS_URL: %s',
    async (host) => {
      expect((await statusesFor(host)).slice(0, 3)).toEqual([200, 200, 200]);
    },
  );
});

describe('/readyz', () => {
  const state = { stopping: false };
  let proxy: DatabaseProxy;
  let db: Pool;
  let ops: ReturnType<typeof buildOps>;
  let deps: Deps;

  beforeAll(async () => {
    proxy = await openDatabaseProxy(app.service.deps.db.options.connectionString!);
    db = openPool(proxy.url);
    // Separate metrics: the service of this file sets the drift that it finds.
    deps = { ...app.service.deps, db, metrics: makeMetrics() };
    ops = buildOps(watchProcess(deps, state), { ...app.config, opsHosts: ['localhost'] });
  });
  afterAll(async () => {
    await ops.close();
    await db.end();
    await proxy.close();
  });
  beforeEach(async () => {
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready' } });
  });

  async function ready() {
    const answer = await ops.inject('/readyz');
    return { status: answer.statusCode, body: answer.json() };
  }

  it('is red while the database is unavailable, and green when it is back', async () => {
    proxy.setOpen(false);
    expect(await ready()).toEqual({
      status: 503,
      body: { status: 'not ready', reason: 'the database does not answer' },
    });
    expect((await ops.inject('/healthz')).statusCode).toBe(200);
    proxy.setOpen(true);
    expect((await ready()).status).toBe(200);
  });

  it('is red while balances differ from their ledgers', async () => {
    deps.metrics.ledgerDrift.set(1);
    expect(await ready()).toEqual({
      status: 503,
      body: { status: 'not ready', reason: 'balances differ from their ledgers' },
    });
    deps.metrics.ledgerDrift.set(0);
    expect((await ready()).status).toBe(200);
  });

  it('is red from the moment the service begins to stop', async () => {
    state.stopping = true;
    expect(await ready()).toEqual({ status: 503, body: { status: 'not ready', reason: 'stopping' } });
    state.stopping = false;
  });
});
