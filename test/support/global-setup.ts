/**
 * One PostgreSQL for a whole test run, with a migrated database to copy from.
 *
 * It is the embedded server in a temporary folder, or the one of TEST_DATABASE_URL, whose user must
 * be allowed to create databases, or the Citus cluster of CITUS_URL, whose user must be a superuser.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { CHROMIUM_PATH } from '../../scripts/browser-path.ts';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool } from '../../src/base/db/pool.ts';
import { startEmbedded } from '../../src/run/embedded-postgres/embedded-postgres.ts';
import { createCitusTemplate, dropCitusDatabase, findCluster } from './citus.ts';
import { databaseUrl } from './database-url.ts';
import { openScratch } from './scratch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Opens a database whose user may create others. */
    adminUrl: string;
    /** Opens a database as the role that services run as by default; `''`: the server has no such role. */
    applicationUrl: string;
    /** Name of the migrated database that test files copy. */
    template: string;
    /** Servers of the Citus cluster of CITUS_URL, the coordinator first. None: tests run on one server. */
    citusServers: string[];
    /** The tests run the statements for a distributed database, on one server. Provided by `vitest.config.ts`. */
    stepForms: boolean;
    /** Each usage record moves into the archive as soon as it is charged. */
    archives: boolean;
    /** A folder that is removed after the run, with every PostgreSQL server that runs in it. */
    scratch: string;
  }
}

type Undo = () => Promise<void>;

/** The relay has packages of its own, and is tested where a browser is found. Without them, its tests alone fail. */
async function setUpRelay(): Promise<void> {
  if (CHROMIUM_PATH !== undefined) {
    await promisify(execFile)(process.execPath, ['scripts/setup.mjs', 'relay']).catch(({ stderr }) =>
      console.warn(`the packages of the relay are missing: ${stderr}`),
    );
  }
}

export async function setup(project: TestProject): Promise<Undo> {
  const scratch = openScratch('boxoffice-test-');
  const template = `boxoffice_test_${process.pid}_template`;
  try {
    await setUpRelay();
    if (process.env.CITUS_URL !== undefined) {
      return await setUpCluster(project, process.env.CITUS_URL, template, scratch);
    }
    const server = await findServer(join(scratch.folder, 'server'));
    await runOn(server.url, `create database ${template}`);
    const pool = openPool(databaseUrl(server.url, template), { max: 2 });
    await migrate(pool, { application: roleOf(server.applicationUrl) }).finally(() => pool.end());

    project.provide('adminUrl', server.url);
    project.provide('applicationUrl', server.applicationUrl);
    project.provide('template', template);
    project.provide('citusServers', []);
    project.provide('scratch', scratch.folder);
    return async () => {
      await runOn(server.url, `drop database if exists ${template} with (force)`).finally(server.stop);
      await scratch.remove();
    };
  } catch (error) {
    await scratch.remove();
    throw error;
  }
}

async function setUpCluster(
  project: TestProject,
  url: string,
  template: string,
  scratch: ReturnType<typeof openScratch>,
): Promise<Undo> {
  const cluster = await findCluster(url);
  const servers = [...cluster.servers];
  await createCitusTemplate(cluster, template);
  project.provide('adminUrl', url);
  project.provide('applicationUrl', cluster.applicationUrl);
  project.provide('template', template);
  project.provide('citusServers', servers);
  project.provide('scratch', scratch.folder);
  return async () => {
    await dropCitusDatabase(servers, template).finally(() => scratch.remove());
  };
}

async function findServer(dataDir: string): Promise<{ url: string; applicationUrl: string; stop: Undo }> {
  const givenUrl = process.env.TEST_DATABASE_URL;
  if (givenUrl !== undefined) return { url: givenUrl, applicationUrl: '', stop: async () => undefined };
  const log = { info: () => undefined, warn: console.warn };
  return await startEmbedded({ dataDir, log, durable: false });
}

function roleOf(url: string): string | undefined {
  return URL.parse(url)?.username;
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
