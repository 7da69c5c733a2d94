/** A start does not wait for the filters of archived ids: they are loaded when charges need them. */
import pg from 'pg';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { archiveRecords } from '../../src/money/records/archive-records.ts';
import { startService } from '../../src/run/service.ts';
import { manyRecords, report } from '../doors/rest/ledger-routes.ts';
import { bareConfig } from '../support/bare-config.ts';
import { ask, useService } from '../support/service.ts';

const app = useService();

test('a service is ready although no known id can be read yet', async () => {
  const tenant = await app.paidTenant();
  const records = manyRecords(50);
  await report(app, tenant, records);
  await archiveRecords({ ...app.service.deps, config: { archiveAfterSeconds: 0 } });
  const locker = new pg.Client(app.database.url);
  await locker.connect();
  await locker.query('begin; lock table known_id_runs, known_id_pages');

  const started = await startService(
    { ...bareConfig(app.database.url), archiveFilterMb: 16 },
    pino({ level: 'silent' }),
  );
  onTestFinished(() => started.stop());
  const ready = await ask(`http://127.0.0.1:${started.opsPort}/readyz`, 'GET');
  expect(ready).toMatchObject({ status: 200, json: { status: 'ready' } });
  expect(started.deps.knownFilters.bytes).toBe(0);

  const body = { records: [...records, ...manyRecords(2)] };
  const charging = ask(`http://127.0.0.1:${started.port}/v1/usage`, 'POST', { key: tenant.relayKey, body });
  await locker.end();
  expect((await charging).json).toMatchObject({ charged: 2, duplicates: 50 });
});
