/** Which servers of a distributed database are away. Tables in the test's database answer in place of Citus. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { awayServers, setAwayServers } from '../../src/base/db/away-servers.ts';
import { findServers } from '../../src/base/db/database-servers.sql.ts';
import { lockReferenceTables } from '../../src/base/db/reference-tables.sql.ts';
import { transactOnce } from '../../src/base/db/transaction.ts';
import { BaseMetrics } from '../../src/base/telemetry/metrics.ts';
import { onServers } from '../../src/base/tenants/shares.ts';
import { watchServers } from '../../src/run/watch-servers.ts';
import { useDatabase } from '../support/database.ts';
import { makeTenant } from '../support/tenants.ts';

const database = useDatabase();
const metrics = new BaseMetrics();

const testAnswers = test.runIf(inject('stepForms'));

/** The answers say `true` for this one. */
const WELL = 'worker';
const setNode = (name: string) => database.pool.query('update pg_dist_node set nodename = $1', [name]);

/** As many looks as are due, each at once. */
async function look(times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await database.pool.query(`update database_servers set asked_at = asked_at - interval '1 second'`);
    await watchServers(database.pool, metrics);
  }
}

async function shown(): Promise<string[]> {
  const text = await metrics.registry.getSingleMetricAsString('boxoffice_database_server_reachable');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

beforeEach(async () => {
  if (!inject('stepForms')) return;
  await database.pool.query('delete from database_servers');
  await setNode(WELL);
  await look();
});
afterEach(() => setAwayServers([]));

testAnswers('a server that answers is not away', async () => {
  await look();
  expect(await shown()).toEqual(['boxoffice_database_server_reachable{server="worker:5432"} 1']);
  expect(await findServers(database.pool)).toEqual([{ id: 1, name: 'worker:5432', awaySeconds: null }]);
});

testAnswers('a server is away after two looks, since the first, and until it answers', async () => {
  await setNode('gone');
  await look();
  expect([...awayServers()]).toEqual([]);
  await database.pool.query(`update database_servers set away_since = away_since - interval '1 minute'`);
  await look();
  expect([...awayServers()]).toEqual([1]);
  expect(await shown()).toEqual(['boxoffice_database_server_reachable{server="gone:5432"} 0']);
  const [{ awaySeconds } = {}] = await findServers(database.pool);
  expect(Math.floor(awaySeconds! / 30)).toBe(2);
  await setNode(WELL);
  await look();
  expect([...awayServers()]).toEqual([]);
  expect(await shown()).toEqual(['boxoffice_database_server_reachable{server="worker:5432"} 1']);
});

testAnswers('one process asks, and another one knows', async () => {
  await setNode('gone');
  await look(2);
  setAwayServers([]);
  await setNode(WELL);
  // Not due.
  await watchServers(database.pool, metrics);
  expect([...awayServers()]).toEqual([1]);
});

testAnswers('what was found long ago, or of a server that was removed, says nothing', async () => {
  await setNode('gone');
  await look(2);
  await database.pool.query(`update database_servers set asked_at = now() - interval '61 seconds'`);
  expect(await findServers(database.pool)).toMatchObject([{ awaySeconds: null }]);
  await database.pool.query('update pg_dist_node set isactive = false');
  expect(await findServers(database.pool)).toEqual([]);
  await database.pool.query('update pg_dist_node set isactive = true');
});

testAnswers(
  'while one is away, changes of all servers fail at once, and no question goes to it',
  async () => {
    const tenant = await makeTenant(database.pool);
    const ask = () =>
      onServers(database.pool, {
        text: (tenants) => `select tenant_id from accounts where true ${tenants.and('tenant_id', 1)}`,
        values: [],
      });
    const change = () => transactOnce(database.pool, lockReferenceTables);
    expect(await ask()).toContainEqual({ tenant_id: tenant });
    await change();
    setAwayServers([1]);
    expect(await ask()).toEqual([]);
    await expect(change()).rejects.toMatchObject({ kind: 'overloaded', retryAfter: 2 });
  },
);
