/** Rotations of keys, and their notices, while the process is killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf } from '../../support/events.ts';
import { ask } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const ROUNDS = 4;

const database = useDatabase();
const service = useChildService(database);

/** The ids of keys that were replaced. */
async function retiring(): Promise<string[]> {
  const { rows } = await database.pool.query(
    'select id from api_keys where retires_at is not null order by id',
  );
  return rows.map(({ id }) => id);
}

test('each rotated key is told to retire, once', { timeout: 300_000 }, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const { tenant, api_key: key } = signedUp.json;
  await database.pool.query(
    `update tenants set limits = '{"api_keys": 100000, "key_requests_per_minute": 100000}' where id = $1`,
    [idOf({ id: tenant })],
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const rotate = async () => {
      try {
        const created = await ask(`${service.url}/v1/keys`, 'POST', { key, body: { name: 'studio' } });
        let { id } = created.json.key;
        for (;;) {
          const rotated = await ask(`${service.url}/v1/keys/${id}/rotate`, 'POST', {
            key,
            body: { overlap_seconds: 3600 },
          });
          id = rotated.json.key.id;
        }
      } catch {
        return;
      }
    };
    const lanes = [rotate(), rotate(), rotate()];
    await expect.poll(async () => (await retiring()).length, { interval: 5 }).toBeGreaterThan(round * 3);
    await wait(round * 13);
    await service.kill();
    await Promise.all(lanes);
    await service.start();
  }
  const events = await eventsOf(database.pool, idOf({ id: tenant }));
  const told = events.filter(({ type }) => type === 'key_retiring').map(({ subject }) => subject.keyId);
  expect(told.sort()).toEqual(await retiring());
});
