import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { askDistribution } from '../../../src/run/ask-distribution.ts';
import { PLACEMENTS } from '../../../src/run/distribution/placements.ts';
import { closePools, openDatabase } from '../../../src/run/open-database.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { createCitusDatabase, dropCitusDatabase } from '../../support/citus.ts';
import { databaseUrl, useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';
import { type Outcome, runAdmin } from './support.ts';

const servers = inject('citusServers');

const run = (url: string, ...args: string[]): Promise<Outcome> =>
  runAdmin({ DATABASE_URL: url }, 'database', ...args);

describe.skipIf(servers.length > 0)('a database of one server', () => {
  const database = useDatabase();

  it('is not distributed', async () => {
    expect(await run(database.url, 'status')).toMatchObject({
      code: 0,
      out: 'Citus        none\nworkers      0\ndistributed  no\n',
    });
  });

  it('cannot be', async () => {
    expect(await run(database.url, 'distribute')).toMatchObject({
      code: 1,
      out: '',
      err: 'the database has no Citus: create the extension on the coordinator and on each worker\n',
    });
  });

  it('of an older or a newer version cannot be', async () => {
    await database.pool.query(`insert into migrations (name, checksum) values ('9999_next.sql', '')`);
    expect(await run(database.url, 'distribute')).toMatchObject({
      code: 1,
      err: 'the database is of a newer version: it has the migration 9999_next.sql\n',
    });
    await database.pool.query(
      `delete from migrations where name in ('9999_next.sql', '0031_distributable.sql')`,
    );
    expect(await run(database.url, 'distribute')).toMatchObject({
      code: 1,
      err: 'the database is of an older version: start the service once, for migration 0031_distributable.sql\n',
    });
  });
});

describe.runIf(servers.length > 0)('a database of a cluster', () => {
  let name: string;
  let url: string;
  let pool: Pool;

  beforeEach(async () => {
    name = `boxoffice_test_${randomBytes(8).toString('hex')}`;
    url = databaseUrl(servers[0]!, name);
    await createCitusDatabase({ servers, applicationUrl: '' }, name);
    await open();
    await migrate(pool);
    return async () => {
      await pool.end();
      await dropCitusDatabase(servers, name);
    };
  });

  // Reads the switch, as a process that starts does.
  async function open(): Promise<void> {
    await askDistribution(url);
    pool = openPool(url, { max: 4 });
  }

  async function distributeClosed(): Promise<Outcome> {
    await pool.end();
    try {
      return await run(url, 'distribute');
    } finally {
      await open();
    }
  }

  async function rowsOf(table: string): Promise<string[]> {
    const { rows } = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t`);
    return rows.map(({ row }) => row).sort();
  }

  async function everything(): Promise<Record<string, string[]>> {
    const tables: Record<string, string[]> = {};
    for (const table of PLACEMENTS.keys()) tables[table] = await rowsOf(table);
    return tables;
  }

  it('that is fresh is distributed, once', async () => {
    expect(await run(url, 'status')).toMatchObject({
      code: 0,
      out: expect.stringContaining('distributed  no'),
    });
    expect(await distributeClosed()).toMatchObject({
      code: 0,
      out: 'distributed: start the services again\n',
    });
    expect(await run(url, 'status', '--json')).toMatchObject({
      code: 0,
      json: { workers: servers.length - 1, distributed: 'wholly', left: [] },
    });
    const { rows } = await pool.query(`select distinct result from run_command_on_all_nodes('show jit')`);
    expect(rows).toEqual([{ result: 'off' }]);
    expect(await distributeClosed()).toMatchObject({ code: 1, err: 'the database is distributed already\n' });
  });

  it('that is filled keeps every row, and goes on', async () => {
    const tenants = await Promise.all([1, 2, 3, 4, 5].map(() => makeTenant(pool)));
    const adjust = (tenant: TenantId, amount: bigint) =>
      inTransaction(pool, async (tx) =>
        appendPosting(tx, await lockAccount(tx, tenant), { kind: 'adjustment', amount }),
      );
    for (const tenant of tenants) for (const amount of [7n, -2n]) await adjust(tenant, amount);
    const before = await everything();
    expect((await distributeClosed()).err).not.toMatch(/error/i);
    expect(await everything()).toEqual(before);
    for (const tenant of tenants)
      expect(await adjust(tenant, 1n)).toMatchObject({ balance: 6n, lastSeq: 3n });
    expect(await run(url, 'status', '--json')).toMatchObject({ json: { distributed: 'wholly' } });
    expect(await runAdmin({ DATABASE_URL: url, PAYMENTS: 'none' }, 'verify')).toMatchObject({ code: 0 });
  });

  it('of which a table is distributed already is left as it is', async () => {
    await pool.query(`select create_reference_table('event_listeners')`);
    expect(await distributeClosed()).toMatchObject({
      code: 1,
      err: 'some tables are distributed and others are not: undistribute event_listeners\n',
    });
    expect(await run(url, 'status')).toMatchObject({
      out: expect.stringContaining('distributed         in part'),
    });
  });

  it('gets the tables that a migration adds into their places with the next start', async () => {
    const tenant = await makeTenant(pool);
    expect(await distributeClosed()).toMatchObject({ code: 0 });
    // As if a migration had just made them and filled one.
    for (const table of ['card_notices', 'usage_rollups', 'event_listeners']) {
      await pool.query(`select undistribute_table('${table}')`);
    }
    await pool.query(`insert into usage_rollups values ($1, '2026-01-01T00:00:00Z')`, [tenant]);
    // It belongs on the coordinator, though Citus now lists it among its tables.
    await pool.query('alter table mail_settings add foreign key (tenant_id) references tenants');
    expect(await run(url, 'status')).toMatchObject({
      out: expect.stringContaining('not in their place  event_listeners, usage_rollups, card_notices'),
    });
    const config = { ...bareConfig(url), databaseUrl: url };
    const starts = [openDatabase(config), openDatabase(config)];
    for (const pools of await Promise.all(starts)) await closePools(pools);
    expect(await run(url, 'status', '--json')).toMatchObject({ json: { distributed: 'wholly' } });
    expect(await rowsOf('usage_rollups')).toHaveLength(1);
  });

  it('that is in use is left as it is', async () => {
    const service = new pg.Client(url);
    await service.connect();
    expect(await distributeClosed()).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^the database is in use: \d+ other connections?\. Stop all services first\n$/,
      ),
    });
    await service.end();
    expect(await run(url, 'status', '--json')).toMatchObject({ json: { distributed: 'not' } });
  });

  it('is left as it is by a role that does not own the tables', async () => {
    const other = new URL(url);
    other.username = 'boxoffice_test_service';
    await pool.query('grant select on migrations to boxoffice_test_service');
    await pool.end();
    expect(await run(other.href, 'distribute')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^role boxoffice_test_service does not own \w+: connect as the owner of the tables\n$/,
      ),
    });
    await open();
  });
});
