/** Reminders of keys that retire, while the process that tells of them is killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf } from '../../support/events.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { ask } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const ROUNDS = 4;
const KEYS = 400;

const database = useDatabase();
const service = useChildService(database);

async function toldKeys(tenant: string): Promise<string[]> {
  const events = await eventsOf(database.pool, idOf({ id: tenant }));
  return events.filter(({ type }) => type === 'key_retiring').map(({ subject }) => subject.keyId);
}

/** Keys that were replaced, and of which their tenant is to be reminded now. Returns their ids. */
async function insertRetiringKeys(tenant: string): Promise<string[]> {
  const rows = await changeReferenceTable<{ id: string }>(
    database.pool,
    `insert into api_keys (id, tenant_id, name, kind, hash, retires_at, retirement_notice_at)
     select encode(sha256(random()::text::bytea), 'hex')::char(16), $1, 'studio', 'backend', sha256(random()::text::bytea),
            now() + interval '1 hour', now() from generate_series(1, $2) returning id`,
    [idOf({ id: tenant }), KEYS],
  );
  return rows.map(({ id }) => id);
}

test('each retiring key is told once', { timeout: 300_000 }, async () => {
  await service.start();
  const { json } = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const retiring: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await service.kill();
    retiring.push(...(await insertRetiringKeys(json.tenant)));
    const before = (await toldKeys(json.tenant)).length;
    await service.start();
    await expect
      .poll(async () => (await toldKeys(json.tenant)).length, { interval: 5, timeout: 60_000 })
      .toBeGreaterThan(before);
    await wait(round * 13);
  }
  await service.kill();
  await service.start();
  await expect.poll(async () => (await toldKeys(json.tenant)).length).toBeGreaterThanOrEqual(retiring.length);
  expect((await toldKeys(json.tenant)).sort()).toEqual(retiring.sort());
});
