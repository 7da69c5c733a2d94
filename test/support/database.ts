/** A migrated database of its own for each test file. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { askDistribution } from '../../src/run/ask-distribution.ts';
import { copyCitusDatabase, dropCitusDatabase } from './citus.ts';
import { databaseUrl } from './database-url.ts';
import { checkLog } from './real-events.ts';
import { answerForCitus } from './step-forms.ts';

export { databaseUrl };

/** Valid from the first `beforeAll` after `useDatabase()` to the end of the file. */
export interface TestDatabase {
  readonly url: string;
  /** Opens it as a role that owns nothing, if the server has one. */
  readonly applicationUrl: string;
  readonly pool: Pool;
}

/**
 * Give the calling test file (or `describe`) a fresh database, dropped afterwards. `empty`: not migrated.
 *
 * What is in the log of events then must be as the schemas of events say, unless the file makes events up.
 */
export function useDatabase({ empty = false, makesUpEvents = false } = {}): TestDatabase {
  const name = `boxoffice_test_${randomBytes(8).toString('hex')}`;
  let pool: Pool | undefined;

  beforeAll(async () => {
    await createDatabase(name, empty);
    pool = openPool(databaseUrl(inject('adminUrl'), name));
  });
  afterAll(async () => {
    try {
      if (pool && !makesUpEvents) await checkLog(pool);
    } finally {
      await pool?.end();
      if (inject('citusServers').length > 0) await dropCitusDatabase(inject('citusServers'), name);
      else await runAsAdmin(`drop database if exists ${name} with (force)`);
    }
  });

  return {
    get url() {
      return databaseUrl(inject('adminUrl'), name);
    },
    get applicationUrl() {
      return databaseUrl(inject('applicationUrl') || inject('adminUrl'), name);
    },
    get pool() {
      if (pool === undefined) throw new Error('the database is there inside beforeAll and tests only');
      return pool;
    },
  };
}

async function createDatabase(name: string, empty: boolean): Promise<void> {
  const servers = inject('citusServers');
  if (empty) await runAsAdmin(`create database ${name}`);
  else if (servers.length > 0) await copyCitusDatabase(servers, name, inject('template'));
  // Copying files takes 15 ms; writing the copy to the WAL takes 80.
  else await runAsAdmin(`create database ${name} template ${inject('template')} strategy file_copy`);
  const stepForms = inject('stepForms');
  if (stepForms && !empty) await answerForCitus(databaseUrl(inject('adminUrl'), name), name);
  if (servers.length > 0 || stepForms) await askDistribution(databaseUrl(inject('adminUrl'), name));
}

let admin: Promise<pg.Client> | undefined;

/** One connection for all test files of a process. It ends with the process. */
async function runAsAdmin(statement: string): Promise<void> {
  admin ??= connectAsAdmin();
  await (await admin).query(statement);
}

async function connectAsAdmin(): Promise<pg.Client> {
  const forget = () => {
    admin = undefined;
  };
  const client = new pg.Client(inject('adminUrl'));
  client
    .once('error', forget)
    .once('end', forget)
    .on('error', () => {});
  await client.connect().catch((error) => {
    forget();
    throw error;
  });
  return client;
}
