import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts';
import { makeMetrics } from '../../../src/doors/metrics.ts';
import { openProvider } from '../../../src/money/payments/provider.ts';
import { EventSweeper } from '../../../src/money/provider-events/event-sweeper.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, secretKey: 'sk_test_sweeper', webhooks: [] });
});
afterAll(() => sandbox.close());

it('runs automatic top-ups only after a sweep, and sweeps again soon until one has succeeded', async () => {
  const { pool: db } = database;
  const tenant = await makeTenant(db, { status: 'active' });
  await db.query(`insert into top_up_attempts (id, tenant_id, amount) values ('tu_1', $1, 1)`, [tenant]);
  const stateOf = async () => (await db.query('select state from top_up_attempts')).rows[0].state;
  const provider = await openProvider({
    secretKey: 'sk_test_sweeper',
    webhookSecrets: [],
    apiBase: sandbox.url,
  });
  const deps = { db, log: pino({ level: 'silent' }), metrics: makeMetrics() };
  const sweeper = new EventSweeper(deps, provider);
  const delays: number[] = [];
  const sweep = () => sweeper.sweep((ms) => void delays.push(ms));

  sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/events*', count: 99 });
  await expect(sweep()).rejects.toThrow();
  await sweeper.runTopUps();
  expect(await stateOf()).toBe('pending');

  sandbox.control.clearFaults();
  await sweep();
  await sweeper.runTopUps();
  // The tenant has no card, so the worker that takes the attempt cancels it.
  expect(await stateOf()).toBe('canceled');

  sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/events*', count: 99 });
  await expect(sweep()).rejects.toThrow();
  expect(delays).toEqual([5000]);
});
