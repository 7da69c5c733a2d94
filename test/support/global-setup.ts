/**
 * One PostgreSQL for a whole run of the tests, with a migrated database to copy from.
 *
 * It is the embedded server in a temporary folder, or the one of TEST_DATABASE_URL, whose user must
 * be allowed to create databases.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool } from '../../src/base/db/pool.ts';
import { startEmbedded } from '../../src/run/embedded-postgres/embedded-postgres.ts';
import { databaseUrl } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Opens a database whose user may create others. */
    adminUrl: string;
    /** Name of the migrated database that test files copy. */
    template: string;
    /** A folder that is removed after the run, with every PostgreSQL server that runs in it. */
    scratch: string;
  }
}

type Undo = () => Promise<void>;

export async function setup(project: TestProject): Promise<Undo> {
  const scratch = mkdtempSync(join(tmpdir(), 'boxoffice-test-'));
  const removeScratch = watchOver(scratch);
  const template = `boxoffice_test_${process.pid}_template`;
  try {
    const server = await findServer(join(scratch, 'server'));
    await runOn(server.url, `create database ${template}`);
    const pool = openPool(databaseUrl(server.url, template), { max: 2 });
    await migrate(pool).finally(() => pool.end());

    project.provide('adminUrl', server.url);
    project.provide('template', template);
    project.provide('scratch', scratch);
    return async () => {
      await runOn(server.url, `drop database if exists ${template} with (force)`).finally(server.stop);
      await removeScratch();
    };
  } catch (error) {
    await removeScratch();
    throw error;
  }
}

async function findServer(dataDir: string): Promise<{ url: string; stop: Undo }> {
  const givenUrl = process.env.TEST_DATABASE_URL;
  if (givenUrl !== undefined) return { url: givenUrl, stop: async () => undefined };
  const log = { info: () => undefined, warn: console.warn };
  return await startEmbedded({ dataDir, log, durable: false });
}

/**
 * A shell that outlives us: it reads from a pipe that closes when this process ends in whatever way,
 * then ends the servers that still run in the folder and removes it.
 */
function watchOver(folder: string): Undo {
  const script = `cat >/dev/null
    find "$1" -name postmaster.pid | while read -r file; do kill -KILL "$(head -n 1 "$file")"; done
    for try in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" && break; sleep 0.5; done`;
  const watcher = spawn('sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  return async () => {
    const exit = once(watcher, 'exit');
    watcher.ref();
    watcher.stdin.end();
    await exit;
  };
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
