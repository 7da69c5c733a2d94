import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { readDistribution } from '../../../src/base/db/distribution.ts';
import { migrate } from '../../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { StartError } from '../../../src/base/lib/start-error.ts';
import { databaseUrl } from '../../support/database.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { listTables, migrationNames, withMigrations } from '../../support/migrations.ts';
import { seeded } from '../../support/seeded.ts';

const KILLS = Number(process.env.ROUNDS ?? 20);

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

const KILL = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
   where datname = $1 and application_name = 'to be killed'`;

const ASKS_FOR_TURN = `
  select from pg_stat_activity
   where datname = current_database() and query like '%advisory_lock%' and pid <> pg_backend_pid()`;

/** Resolves when something waits for the table. */
async function waitForLock(table: string): Promise<void> {
  const look = async () => {
    const { rows } = await pool.query(
      'select from pg_locks where not granted and relation = $1::text::regclass',
      [table],
    );
    expect(rows).toHaveLength(1);
  };
  await vi.waitFor(look, { timeout: 60_000, interval: 5 });
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

  it('lets others through while something reads its table for long, and runs when the table is free', async () => {
    await readDistribution(pool);
    await pool.query('create table crowded (number integer)');
    const reader = await pool.connect();
    await reader.query('begin; select from crowded');
    const files = { '0001_first.sql': 'alter table crowded add column text text;' };
    let isDone = false;
    const migrating = withMigrations(files, (folder) => migrate(pool, { folder })).finally(() => {
      isDone = true;
    });
    await waitForLock('crowded');
    // Behind the migration, they would wait until the reader ends.
    for (let turn = 0; turn < 20; turn += 1) await pool.query('insert into crowded values (1)');
    expect(isDone).toBe(false);
    await reader.query('rollback');
    reader.release();
    expect(await migrating).toBe(1);
    expect((await pool.query('select text from crowded')).rows).toHaveLength(20);
  });

  it('creates an index concurrently while others write, and again where that has failed', async () => {
    await pool.query('create table crowded (number integer); insert into crowded values (1), (1)');
    const files = {
      '0001_index.sql': 'create unique index concurrently crowded_number on crowded (number);',
    };
    const run = () => withMigrations(files, (folder) => migrate(pool, { folder }));
    const failing = run();
    await expect(failing).rejects.toThrow(StartError);
    await expect(failing).rejects.toThrow(
      /^migration 0001_index.sql failed: could not create unique index .*$/,
    );
    const valid = () =>
      pool.query('select from pg_index where indrelid = $1::regclass and indisvalid', ['crowded']);
    expect((await valid()).rows).toHaveLength(0);

    await pool.query('truncate crowded');
    const writer = await pool.connect();
    await writer.query('begin; insert into crowded values (1)');
    const another = openPool(databaseUrl(inject('adminUrl'), name));
    const migrating = [run(), withMigrations(files, (folder) => migrate(another, { folder }))];
    await expect.poll(() => countLockWaiters(pool)).toBeGreaterThan(0);
    await expect.poll(async () => (await pool.query(ASKS_FOR_TURN)).rows).toHaveLength(1);
    for (let turn = 2; turn < 20; turn += 1) await pool.query('insert into crowded values ($1)', [turn]);
    await writer.query('commit');
    writer.release();
    expect((await Promise.all(migrating)).sort()).toEqual([0, 1]);
    await another.end();
    expect((await valid()).rows).toHaveLength(1);
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

  it('refuses a database without what this version uses, and says that another one is newer', async () => {
    const told: unknown[] = [];
    const log = { warn: (what: unknown) => void told.push(what) };
    const migrateTo = (...names: string[]) =>
      withMigrations(Object.fromEntries(names.map((each) => [each, ''])), (folder) =>
        migrate(pool, { folder, log }),
      );
    const all = ['0001_first.sql', '0002_second.sql', '0003_needs_0002_drop.sql', '0004_more.sql'];
    expect(await migrateTo(...all)).toBe(4);
    await expect(migrateTo(all[0]!)).rejects.toThrow(
      'migration 0003_needs_0002_drop.sql of a newer version has taken away what this version uses',
    );
    expect(told).toEqual([]);
    expect(await migrateTo(all[0]!, all[1]!)).toBe(0);
    expect(told).toEqual([{ migration: '0004_more.sql' }]);
  });

  it('comes to the same tables however often it is killed', async () => {
    const random = seeded(KILLS);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const killed = openPool(databaseUrl(inject('adminUrl'), name), { applicationName: 'to be killed' });
      let spared = Math.floor(random() * 4);
      let killing: Promise<unknown> | undefined;
      const beforeEach = async () => {
        spared -= 1;
        if (spared < 0) killing ??= wait(random() * 20).then(() => admin.query(KILL, [name]));
      };
      const outcome = await migrate(killed, { beforeEach }).catch((error: unknown) => error);
      if (typeof outcome !== 'number') expect(outcome).toBeInstanceOf(Error);
      await killing;
      await killed.end();
    }
    const begun = (await listRun()).length;
    expect(await migrate(pool)).toBe(files.length - begun);
    const tables = await listTables(pool);
    await pool.query('drop schema public cascade; create schema public');
    await migrate(pool);
    expect(tables).toEqual(await listTables(pool));
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
