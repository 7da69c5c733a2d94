import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { inLogSnapshot } from '../../src/events/log-snapshot.sql.ts';
import { useDatabase } from '../support/database.ts';
import { testStepForms } from '../support/step-forms.ts';
import { makeTenant } from '../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
let tenant: TenantId;

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const append = () =>
  database.pool.query(
    `insert into unnumbered_events (tenant_id, type, subject, revokes) values ($1, 'room_created', '{}', false)`,
    [tenant],
  );
const findPlace = () => inLogSnapshot(database.pool, tenant, async (_, { seq }) => seq);

test('a snapshot is as of the last event, though it had no number', async () => {
  expect(await findPlace()).toBe(0n);
  for (let count = 0; count < 3; count += 1) await append();
  expect(await findPlace()).toBe(3n);
});

testStepForms('a snapshot of a log that moves during each of 50 attempts fails', async () => {
  const reader = await database.pool.connect();
  const query = reader.query.bind(reader) as (...args: unknown[]) => unknown;
  let begun = 0;
  vi.spyOn(reader, 'query').mockImplementation((async (...args: unknown[]) => {
    if (String(args[0]).startsWith('rollback; begin')) {
      begun += 1;
      if (begun < 100) await append();
    }
    return query(...args);
  }) as never);
  vi.spyOn(database.pool, 'connect').mockImplementationOnce((async () => reader) as never);
  await expect(findPlace()).rejects.toThrow('the log of the tenant moves too fast for a snapshot');
  expect(begun).toBe(51);
});
