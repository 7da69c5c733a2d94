/** A server is restored to a point in time: the archive of usage records is as it was then, and no id is charged twice. */
import { join } from 'node:path';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { openPool } from '../../src/base/db/pool.ts';
import { findDifferences } from '../../src/money/verification/find-differences.ts';
import { manyRecords } from '../doors/rest/ledger-routes.ts';
import { openScratch } from '../support/scratch.ts';
import { makeKey, makeTenant } from '../support/tenants.ts';
import { findLastingPort } from './lasting-port.ts';
import { type MainProcess, startMainProcess } from './main-process.ts';
import { post } from './post.ts';
import { DATABASE, PostgresServer } from './postgres-server.ts';
import { POSTGRES_BIN, Processes, waitFor } from './processes.ts';

const SETTINGS = `archive_mode = on
archive_command = '/bin/true'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''`;

test.skipIf(POSTGRES_BIN === undefined)(
  'records that were archived before and after the backup are known, and later ones are charged again',
  { timeout: 120_000 },
  async () => {
    const scratch = openScratch('boxoffice-point-in-time-');
    const processes = new Processes(scratch);
    onTestFinished(() => processes.stop());
    onTestFailed(() => console.error(processes.logs()));
    await processes.ownFolder();
    const server = await startServer(join(scratch.folder, 'main'), processes);
    const first = await startService(server);
    const tenant = await makeTenant(first.db, { status: 'active' });
    const { plaintext: key } = await makeKey(first.db, tenant, 'relay');
    const [before, after, lost] = [manyRecords(60), manyRecords(30), manyRecords(10)];
    await first.report(key, before);
    await first.isArchived();
    await server.backUp();
    await first.report(key, after);
    await first.isArchived();
    await server.query(`select pg_create_restore_point('then')`);
    await first.report(key, lost);
    await first.isArchived();
    await server.archive();
    await first.stop();
    await server.kill();

    await server.restore('then');
    const restored = await startService(server);
    onTestFinished(() => restored.stop());
    const all = [...before, ...after, ...lost];
    expect(await restored.report(key, all)).toMatchObject({ charged: 10, duplicates: 90 });
    await restored.isArchived();
    expect(await restored.report(key, all)).toMatchObject({ charged: 0, duplicates: 100 });
    expect((await findDifferences(restored.db, { at: () => {} })).differences).toEqual([]);
  },
);

async function startServer(folder: string, processes: Processes): Promise<PostgresServer> {
  const server = new PostgresServer('main', await findLastingPort('127.0.0.1'), folder, processes);
  await server.create(SETTINGS);
  await server.start();
  await server.query(`create database ${DATABASE}`, 'postgres');
  return server;
}

async function startService(server: PostgresServer) {
  const db = openPool(server.url(), { max: 2 });
  const service: MainProcess = await startMainProcess({ DATABASE_URL: server.url(), ARCHIVE_AFTER: '0' });
  return {
    db,
    report: (key: string, records: readonly unknown[]) => post(`${service.url}/v1/usage`, key, { records }),
    /** Resolves when no record is a row any more. */
    isArchived: () =>
      waitFor('the archive', async () => {
        const { rows } = await db.query('select exists (select from usage_records) as "hasRows"');
        return !rows[0].hasRows;
      }),
    stop: async () => {
      service.child.kill('SIGKILL');
      await db.end();
    },
  };
}
