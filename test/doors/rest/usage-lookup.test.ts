import { expect, test } from 'vitest';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { expectOk } from './support.ts';

const app = useService();

const lookUp = ({ relayKey }: TestTenant, ids: readonly string[]) =>
  app.request('POST', '/v1/usage/lookup', { key: relayKey, body: { ids } });

test('every id is answered, in order, however many slices the answer takes', async () => {
  const tenant = await app.paidTenant();
  const records = Array.from({ length: 260 }, () => usageRecord());
  expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } }));
  const ids = records.flatMap(({ id }) => [id as string, `not ${id}`]);
  const found = expectOk(await lookUp(tenant, ids)).records as { id: string; outcome: string }[];
  expect(found.map(({ id }) => id)).toEqual(ids);
  expect(new Set(found.filter((_, at) => at % 2 === 0).map(({ outcome }) => outcome))).toEqual(
    new Set(['charged']),
  );
  expect(found[1]).toEqual({ id: ids[1], outcome: 'unknown' });
  expect(expectOk(await lookUp(tenant, []))).toEqual({ records: [] });
});

test('sixty of 5,000 ids at once do not hold up a request of another tenant', async () => {
  const [busy, other] = [await app.paidTenant(), await app.signUp()];
  const ids = Array.from({ length: 5_000 }, (_, at) => `never reported, and so unknown ${at}`);
  const billing = () => app.request('GET', '/v1/billing', { key: other.key });
  expectOk(await billing());
  let answered = 0;
  const all = Promise.all(
    Array.from({ length: 60 }, async () => {
      // A slow machine refuses those that wait for ten seconds.
      expect([200, 503]).toContain((await lookUp(busy, ids)).status);
      answered += 1;
    }),
  );
  await expect.poll(() => answered).toBeGreaterThan(0);
  // Behind them, it would be answered last.
  for (let count = 0; count < 3; count += 1) expectOk(await billing());
  expect(answered).toBeLessThan(55);
  await all;
});
