import { expect, it, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { compareAlerts } from '../../../src/money/verification/compare-alerts.sql.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { post } from '../../support/months.ts';
import { ask, usageRecord } from '../../support/service.ts';
import { alertsByLedger, alertsOf, balance, lastSeq } from './support.ts';

const ROUNDS = 6;
const THRESHOLDS = [30, 40, 50, 60, 70, 80, 90].map((each) => each * 1_000);

const database = useDatabase();
const service = useChildService(database);

it('a process killed while charging loses no alert and repeats none', { timeout: 300_000 }, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const { api_key: key, tenant: name } = signedUp.json;
  const tenant = parseTenantId(name)!;
  const relay = await ask(`${service.url}/v1/keys`, 'POST', { key, body: { name: 'relay', kind: 'relay' } });
  await post(database.pool, tenant, { kind: 'adjustment', amount: 100_000n });
  const thresholds = THRESHOLDS.map(balance);
  const set = await ask(`${service.url}/v1/alerts`, 'PUT', { key, body: { thresholds } });
  expect(set.status, set.text).toBe(200);
  const after = await lastSeq(database.pool, tenant);

  for (let round = 0; round < ROUNDS; round += 1) {
    const { url } = service;
    let answered = 0;
    const lanes = Array.from({ length: 3 }, async () => {
      for (;;) {
        const records = Array.from({ length: 3 }, () => usageRecord({ seconds: 60 }));
        const sent = ask(`${url}/v1/usage`, 'POST', { key: relay.json.api_key, body: { records } });
        if ((await sent.catch(() => undefined)) === undefined) return;
        answered += 1;
      }
    });
    const enough = () => expect(answered).toBeGreaterThanOrEqual(10 + round * 6);
    await vi.waitFor(enough, { timeout: 60_000, interval: 1 });
    await service.kill();
    await Promise.all(lanes);
    // Back to the top: every threshold that was crossed is crossed again.
    const { rows } = await database.pool.query(
      'select 100000 - balance as missing from accounts where tenant_id = $1',
      [tenant],
    );
    await post(database.pool, tenant, { kind: 'adjustment', amount: BigInt(rows[0].missing) });
    await service.start();
  }
  await service.kill();
  const expected = await alertsByLedger(database.pool, tenant, THRESHOLDS, { after });
  expect(expected.length).toBeGreaterThan(ROUNDS);
  expect(await alertsOf(database.pool, tenant)).toEqual(expected);
  expect(await checkLedger(database.pool)).toEqual([]);
  expect(await compareAlerts(database.pool)).toEqual([]);
});
