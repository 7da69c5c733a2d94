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
import { startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool } from '../../src/db/pool.ts';
import { databaseUrl } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Opens a database whose user may create others. */
    adminUrl: string;
    /** Name of the migrated database that test files copy. */
    template: string;
  }
}

type Undo = () => Promise<void>;

export async function setup(project: TestProject): Promise<Undo> {
  const givenUrl = process.env.TEST_DATABASE_URL;
  const server =
    givenUrl === undefined ? await startServer() : { url: givenUrl, stop: async () => undefined };
  const template = `boxoffice_test_${process.pid}_template`;
  try {
    await runOn(server.url, `create database ${template}`);
    const pool = openPool(databaseUrl(server.url, template), { max: 2 });
    await migrate(pool).finally(() => pool.end());
  } catch (error) {
    await server.stop();
    throw error;
  }

  project.provide('adminUrl', server.url);
  project.provide('template', template);
  return async () => {
    await runOn(server.url, `drop database if exists ${template} with (force)`).finally(server.stop);
  };
}

async function startServer(): Promise<{ url: string; stop: Undo }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'boxoffice-test-'));
  const removeLeftovers = watchOver(dataDir);
  try {
    const silent = { info: () => undefined, warn: console.warn };
    const embedded = await startEmbedded({ dataDir, log: silent, durable: false });
    return { url: embedded.url, stop: () => embedded.stop().finally(removeLeftovers) };
  } catch (error) {
    await removeLeftovers();
    throw error;
  }
}

/**
 * A shell that outlives us: it reads from a pipe that closes when this process ends in whatever way,
 * then stops the server if it still runs and removes the folder.
 */
function watchOver(dataDir: string): Undo {
  const script = `cat >/dev/null
    pid=$(head -n 1 "$1/postgres/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" && sleep 1
    rm -rf "$1"`;
  const watcher = spawn('sh', ['-c', script, 'sh', dataDir], {
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
