import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../../src/base/db/migrate.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import { type Embedded, startEmbedded } from '../../../src/run/embedded-postgres/embedded-postgres.ts';
import { databaseUrl } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { runAdmin, spawnAdmin, spawnUnread } from './support.ts';

const NOWHERE = 'postgres://somebody:a-password@127.0.0.1:1/boxoffice';

describe('a command line', () => {
  it.each([
    [
      ['--help'],
      /Commands:[\s\S]+tenants[\s\S]+credit[\s\S]+top-ups[\s\S]+usage[\s\S]+rates[\s\S]+events[\s\S]+signing-keys[\s\S]+verify/,
    ],
    [['credit', 'adjust', '--help'], /<amount>[\s\S]+--json[\s\S]+--reason <text> +why; the tenant reads it/],
  ])('%s explains itself', async (args, text) => {
    expect(await spawnAdmin({}, ...args)).toMatchObject({
      code: 0,
      out: expect.stringMatching(text),
      err: '',
    });
  });

  it.each([
    [[]],
    [['tenants']],
    [['dance']],
    [['tenants', 'list', 'all']],
    [['verify', '--quickly']],
    [['backup', '/backups', '--keep', '0']],
    [['backup', '/backups', '--keep', '1', '--wal', '/wal']],
    [['backup', '/backups', '--base', '--wal', '/wal']],
    [['drill', 'restore', '/backups', '--until', '2026-11-01']],
    [['drill', 'restore', '/backups', '--wal', '/wal', '--until', '2026-11-01', '--max-loss', '60']],
  ])('%j is not understood', async (args) => {
    expect(await runAdmin({ DATABASE_URL: NOWHERE }, ...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^(Usage|error): /),
    });
  });

  it('is done although its reader has left', async () => {
    expect(await spawnUnread('--help')).toEqual({ code: 0, err: '' });
  });

  it('reports a wrong setting', async () => {
    const refused = await spawnAdmin({ DATABASE_URL: 'mysql://somebody:a-password@db/' }, 'verify');
    expect(refused).toMatchObject({ code: 2, out: '', err: 'DATABASE_URL must be a postgres:// address\n' });
  });

  it('needs the provider for payments', async () => {
    const env = { DATABASE_URL: inject('adminUrl'), PAYMENTS: 'none' };
    const refused = await runAdmin(env, 'verify', '--payments');
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^error: the payment provider is unknown: set STRIPE_SECRET_KEY/),
    });
  });

  it('says in one line, and without a password, that there is no database', async () => {
    const failed = await spawnAdmin({ DATABASE_URL: NOWHERE }, 'tenants', 'list');
    expect(failed).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^connect ECONNREFUSED .+\n$/),
    });
  });

  it('says that a database has no tables yet', async () => {
    const empty = databaseUrl(inject('adminUrl'), 'postgres');
    const failed = await runAdmin({ DATABASE_URL: empty }, 'tenants', 'list');
    expect(failed).toMatchObject({
      code: 1,
      err: 'the database has no tables yet: start the service once\n',
    });
  });
});

describe('the embedded database', () => {
  let dataDir: string;
  let embedded: Embedded;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'boxoffice-admin-'));
    embedded = await startEmbedded({
      dataDir,
      log: { info: () => undefined, warn: console.warn },
      durable: false,
    });
    const pool = openPool(embedded.url, { max: 1 });
    await migrate(pool);
    await loadRates(pool, OPERATOR, undefined);
    await pool.end();
  });
  afterAll(async () => {
    await embedded.stop();
    await rm(dataDir, { recursive: true });
  });

  it('can be used with a running service, and alone', async () => {
    const env = { DATA_DIR: dataDir };
    expect((await spawnAdmin(env, 'rates', 'show', '--json')).json).toMatchObject({ version: 1 });
    await embedded.stop();
    expect(await spawnAdmin(env, 'verify')).toMatchObject({
      code: 0,
      out: 'ok: 0 tenants, 0 postings, 0 records\n',
      err: '',
    });
  });

  it('is not created by a read-only command', async () => {
    const nowhere = join(dataDir, 'mistyped');
    const failed = await runAdmin({ DATA_DIR: nowhere }, 'tenants', 'list');
    expect(failed).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`no database in ${nowhere}`),
    });
  });
});
