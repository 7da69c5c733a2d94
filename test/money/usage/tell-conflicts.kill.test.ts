/** Notices of conflicting reports while the process is killed, again and again. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf } from '../../support/events.ts';
import { ask, usageRecord } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const ROUNDS = 5;
const LANES = 4;

const database = useDatabase();
const service = useChildService(database);

/** How many conflicting reports were stored. */
async function stored(): Promise<number> {
  const { rows } = await database.pool.query(
    'select coalesce(sum(times), 0)::float8 as sum from usage_conflicts',
  );
  return rows[0].sum;
}

test('each stored conflict is told or waits to be told, once', { timeout: 300_000 }, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const tenant = idOf({ id: signedUp.json.tenant });
  const relay = await ask(`${service.url}/v1/keys`, 'POST', {
    key: signedUp.json.api_key,
    body: { name: 'relay', kind: 'relay' },
  });
  const report = (records: unknown[]) =>
    ask(`${service.url}/v1/usage`, 'POST', { key: relay.json.api_key, body: { records } });
  const records = Array.from({ length: 40 }, () => usageRecord());
  expect((await report(records)).json).toMatchObject({ charged: 40 });

  for (let round = 0; round < ROUNDS; round += 1) {
    const lane = async () => {
      for (let seconds = 61; ; seconds += 1) {
        try {
          await report(records.map((record) => ({ ...record, seconds })));
        } catch {
          return;
        }
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    const before = await stored();
    await expect.poll(stored, { interval: 5 }).toBeGreaterThan(before);
    await wait(round * 17);
    // The next notice is due at once.
    await database.pool.query(`update conflict_notices set told_at = told_at - interval '1 hour'`);
    await service.kill();
    await Promise.all(lanes);
    await service.start();
  }

  const { rows } = await database.pool.query('select reports::float8 as waiting from conflict_notices');
  const events = await eventsOf(database.pool, tenant);
  const told = events
    .filter(({ type }) => type === 'conflicting_duplicates')
    .reduce((sum, { subject }) => sum + subject.count, 0);
  expect(told + rows[0].waiting).toBe(await stored());
});
