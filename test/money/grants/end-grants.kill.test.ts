/** Grants end while the process is killed, again and again. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenants, OPERATOR } from '../../support/tenants.ts';
import { endNow, spend } from './support.ts';

const ROUNDS = 4;
const TENANTS = 60;

const database = useDatabase();
const service = useChildService(database);

async function ended(): Promise<number> {
  const { rows } = await database.pool.query('select count(*)::int from grants where ended_at is not null');
  return rows[0].count;
}

test('each grant ends once, and takes what was left', { timeout: 300_000 }, async () => {
  await service.start();
  const tenants = await makeTenants(database.pool, TENANTS);
  const expiresAt = new Date(Date.now() + 30 * 86_400_000);
  for (const tenant of tenants) {
    for (const amount of [5n, 7n]) {
      const given = { amount, reason: 'a gift', expiresAt, key: undefined };
      await grantCredit(database.pool, OPERATOR, tenant, given);
    }
    await spend(database.pool, tenant, 6n);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const few = tenants.slice((TENANTS / ROUNDS) * round, (TENANTS / ROUNDS) * (round + 1));
    for (const tenant of few) await endNow(database.pool, tenant);
    const before = await ended();
    await expect.poll(ended, { interval: 1, timeout: 60_000 }).toBeGreaterThan(before);
    await wait(round * 3);
    await service.kill();
    await service.start();
  }
  await expect.poll(ended).toBe(TENANTS * 2);
  const { rows } = await database.pool.query(
    `select a.balance, array_agg(p.amount order by p.seq) as ends from accounts a
       left join postings p on p.tenant_id = a.tenant_id and p.kind = 'grant_expired' group by a.tenant_id, a.balance`,
  );
  expect(rows).toEqual(Array.from({ length: TENANTS }, () => ({ balance: 0n, ends: ['-6'] })));
});
