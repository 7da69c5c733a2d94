import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { readDistribution } from '../../../src/base/db/distribution.ts';
import { migrate } from '../../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { databaseUrl } from '../../support/database.ts';
import { migrationNames, withMigrations } from '../../support/migrations.ts';

let admin: pg.Client;
let name: string;
let pool: Pool;
let files: string[];

beforeAll(async () => {
  files = await migrationNames();
  admin = new pg.Client(inject('adminUrl'));
  await admin.connect();
});
afterAll(() => admin.end());

beforeEach(async () => {
  name = `boxoffice_test_${randomBytes(8).toString('hex')}`;
  await admin.query(`create database ${name}`);
  pool = openPool(databaseUrl(inject('adminUrl'), name));
});
afterEach(async () => {
  await pool.end();
  await admin.query(`drop database ${name} with (force)`);
});

async function listRun(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>('select name from migrations order by name');
  return rows.map((row) => row.name);
}

describe('migrate', () => {
  it('runs every file once, in order', async () => {
    expect(await migrate(pool)).toBe(files.length);
    expect(await listRun()).toEqual(files);
    expect(await migrate(pool)).toBe(0);
  });

  it('serializes two processes that start at once', async () => {
    const another = openPool(databaseUrl(inject('adminUrl'), name));
    const runs = await Promise.all([migrate(pool), migrate(another), migrate(pool)]).finally(() =>
      another.end(),
    );
    expect(runs.sort()).toEqual([0, 0, files.length]);
    expect(await listRun()).toEqual(files);
  });

  it('may take longer than the statement timeout of the pool', async () => {
    const impatient = openPool(databaseUrl(inject('adminUrl'), name));
    Object.assign(impatient.options, { query_timeout: 1, statement_timeout: 1, lock_timeout: 1 });
    expect(await migrate(impatient).finally(() => impatient.end())).toBe(files.length);
  });

  it('runs a file as the body of a block', async () => {
    const files = {
      '0001_first.sql': 'if true then create table first (); end if; -- the end',
      '0002_second.sql': 'perform from first;',
    };
    const run: string[] = [];
    const beforeEach = async () => void run.push((await listRun()).join());
    expect(await withMigrations(files, (folder) => migrate(pool, { folder, beforeEach }))).toBe(2);
    expect(run).toEqual(['', '0001_first.sql']);
  });

  it('runs the file for a cluster where tables are distributed, and takes the other one for the same', async () => {
    const files = {
      '0001_first.sql': 'create table first ();',
      '0002_second.sql': 'create table second ();',
      'distributed/0002_second.sql': 'create table another ();',
    };
    const run = () => withMigrations(files, (folder) => migrate(pool, { folder }));
    await pool.query(`create table tenant_places ();
      create table pg_dist_partition as select 'tenant_places'::regclass as logicalrelid`);
    await readDistribution(pool);
    try {
      expect(await run()).toBe(2);
    } finally {
      await pool.query('drop table pg_dist_partition, tenant_places');
      await readDistribution(pool);
    }
    expect(await run()).toBe(0);
    const { rows } = await pool.query(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['another', 'first', 'migrations']);
  });

  it('refuses a file that was changed after it ran', async () => {
    await migrate(pool);
    await pool.query(`update migrations set checksum = 'of another text' where name = $1`, [files[0]]);
    await expect(migrate(pool)).rejects.toThrow(`migration ${files[0]} was changed after it ran`);
  });

  it('rolls back a file in which it was killed, and resumes there', async () => {
    // Another transaction that creates a table of the same name blocks the migration halfway.
    const blocker = await pool.connect();
    await blocker.query('begin; create table provider_cursor ()');
    const killed = openPool(databaseUrl(inject('adminUrl'), name), { applicationName: 'to be killed' });
    killed.on('error', () => undefined);
    killed.on('connect', (client) => client.on('error', () => undefined));
    const outcome = migrate(killed).catch((error: unknown) => error);
    const pid = await vi.waitFor(
      async () => {
        const { rows } = await admin.query(
          `select pid from pg_stat_activity
            where datname = $1 and application_name = 'to be killed' and wait_event_type = 'Lock'`,
          [name],
        );
        return rows[0].pid;
      },
      { timeout: 60_000 },
    );
    await admin.query('select pg_terminate_backend($1::integer, 5000)', [pid]);
    expect(await outcome).toBeInstanceOf(Error);
    await killed.end();
    await blocker.query('rollback');
    blocker.release();

    const { rows } = await pool.query(`select to_regclass('tenants') as tenants`);
    expect(rows).toEqual([{ tenants: null }]);
    expect(await migrate(pool)).toBe(files.length);
    expect(await listRun()).toEqual(files);
  });
});
