/** A process that is killed in the middle of an erasure; another one goes on. */
import { expect, test, vi } from 'vitest';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { ask } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { insertUsage, participantsOf } from './support.ts';

const RECORDS = 60_000;

const database = useDatabase();
const service = useChildService(database);

interface Row {
  readonly state: string;
  readonly step: string;
  readonly records: bigint;
}

test('an erasure goes on where a killed process left it, and counts each record once', async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const tenant = idOf({ id: signedUp.json.tenant });
  const key: string = signedUp.json.api_key;
  await insertUsage(database.pool, tenant, { participants: ['ann', 'bob'], count: RECORDS });
  const erasure = async () => {
    const { rows } = await database.pool.query<Row>(
      'select state, step, records from erasures where tenant_id = $1',
      [tenant],
    );
    return rows[0]!;
  };

  const asked = await ask(`${service.url}/v1/participants/erase`, 'POST', {
    key,
    body: { participant: 'ann' },
  });
  expect(asked.status).toBe(202);
  let killed = 0n;
  for (let round = 0; round < 2; round += 1) {
    const before = killed;
    await vi.waitFor(async () => expect((await erasure()).records).toBeGreaterThan(before), {
      timeout: 60_000,
      interval: 5,
    });
    await service.kill();
    const found = await erasure();
    expect(found).toMatchObject({ state: 'pending', step: 'usage_records' });
    killed = found.records;
    expect((await participantsOf(database.pool, tenant))['(erased)']).toBe(Number(killed));
    await service.start();
  }
  await vi.waitFor(async () => expect(await erasure()).toMatchObject({ state: 'done' }), {
    timeout: 60_000,
    interval: 50,
  });
  expect(await erasure()).toMatchObject({ records: BigInt(RECORDS / 2) });
  expect(await participantsOf(database.pool, tenant)).toEqual({ '(erased)': RECORDS / 2, bob: RECORDS / 2 });
});
