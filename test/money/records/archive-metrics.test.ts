/** How many records are rows and how many are archived, as operators see it. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { archiveMetrics, measureArchive } from '../../../src/money/records/archive-metrics.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { findArchiveState } from '../../../src/money/records/archive-state.sql.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { useService } from '../../support/service.ts';
import { runsStepForms } from '../../support/step-forms.ts';
import { idOf } from '../../support/tenants.ts';
import { pass } from '../grants/support.ts';

const app = useService();
const db = () => app.service.deps.db;

test('the records of all tenants are counted in both stores, and the oldest that waits has its age', async () => {
  expect(await findArchiveState(db())).toMatchObject({ archived: 0, oldestSeconds: 0 });
  const [one, other] = [await app.paidTenant(), await app.paidTenant()];
  const metrics = archiveMetrics(new Registry());
  const archive = () => archiveRecords({ ...app.service.deps, metrics, config: { archiveAfterSeconds: 0 } });
  await report(app, one, manyRecords(300));
  await archive();
  await report(app, other, manyRecords(70));
  await archive();
  await report(app, one, manyRecords(200));
  await pass(db(), idOf(one), 1);
  await db().query('vacuum analyze usage_records');
  await measureArchive({ db: db(), metrics, knownFilters: { bytes: 12_345 } });
  const stored = Object.fromEntries(
    (await metrics.storedRecords.get()).values.map(({ labels, value }) => [labels.store, value]),
  );
  expect(stored).toEqual({ archive: 370, ...(!runsStepForms() && { rows: 200 }) });
  for (const { value } of (await metrics.storedBytes.get()).values) expect(value).toBeGreaterThan(8_192);
  expect((await metrics.archiveLag.get()).values[0]!.value).toBeCloseTo(86_400, -2);
  expect((await metrics.archivedRecords.get()).values[0]!.value).toBe(370);
  expect((await metrics.filterBytes.get()).values[0]!.value).toBe(12_345);
  const { values } = await metrics.archiveDuration.get();
  expect(values.find(({ metricName }) => metricName?.endsWith('_count'))!.value).toBe(2);
});
