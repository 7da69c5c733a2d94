/** A start on a database that the service cannot use is refused with one line, and changes nothing. */
import pg from 'pg';
import pino from 'pino';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { StartError } from '../../src/base/lib/start-error.ts';
import { budgetConnections } from '../../src/run/connection-budget.ts';
import { closePools, type DatabaseConfig, openDatabase } from '../../src/run/open-database.ts';
import { startService } from '../../src/run/service.ts';
import { bareConfig } from '../support/bare-config.ts';
import { databaseUrl, useDatabase } from '../support/database.ts';

const NOWHERE = 'postgres://nobody@127.0.0.1:1/none';
const IS_CLUSTER = inject('citusServers').length > 0;

async function refusalOf(config: DatabaseConfig): Promise<string> {
  const error = await openDatabase(config).then(closePools, (fault: unknown) => fault);
  expect(error).toBeInstanceOf(StartError);
  const { message } = error as StartError;
  expect(message).not.toContain('\n');
  return message;
}

/** The same database, with settings for each session. */
function withSettings(url: string, settings: readonly string[]): string {
  const variant = new URL(url);
  variant.searchParams.set('options', settings.map((each) => `-c ${each}`).join(' '));
  return variant.href;
}

async function tablesOf(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client
    .query(`select count(*)::integer as tables from pg_class where relnamespace = 'public'::regnamespace`)
    .finally(() => client.end());
  return rows[0].tables;
}

describe('on an empty database', () => {
  const database = useDatabase({ empty: true });
  const config = () => bareConfig(database.url);
  const readOnly = () => withSettings(database.url, ['default_transaction_read_only=on']);

  test.each<[string, () => Partial<DatabaseConfig>, RegExp]>([
    [
      'unreachable',
      () => ({ databaseUrl: NOWHERE }),
      /^the database of DATABASE_URL cannot be opened: connect ECONNREFUSED/,
    ],
    [
      'unreachable for the owner',
      () => ({ migrationsDatabaseUrl: NOWHERE }),
      /^the database of MIGRATIONS_DATABASE_URL cannot be opened: /,
    ],
    [
      'of another name',
      () => ({ databaseUrl: databaseUrl(database.url, 'missing') }),
      /^the database of DATABASE_URL cannot be opened: database "missing" does not exist$/,
    ],
    ['read-only', () => ({ databaseUrl: readOnly() }), /^the database of DATABASE_URL is read-only: /],
    [
      'read-only for the owner',
      () => ({ migrationsDatabaseUrl: readOnly() }),
      /^the database of MIGRATIONS_DATABASE_URL is read-only: /,
    ],
    [
      'another one for the owner',
      () => ({ migrationsDatabaseUrl: inject('adminUrl') }),
      /^MIGRATIONS_DATABASE_URL and DATABASE_URL must open the same database on the same server$/,
    ],
    [
      'too small',
      () => ({ connectionBudget: budgetConnections(64, 100_000) }),
      /^the service may open 1348 database connections, and the server allows \d+: raise its max_connections, or lower /,
    ],
  ])('that is %s', async (_, change, refusal) => {
    expect(await refusalOf({ ...config(), ...change() })).toMatch(refusal);
    expect(await tablesOf(database.url)).toBe(0);
  });

  test('that allows fewer connections than its server', async () => {
    const { database: name } = (await database.pool.query('select current_database() as database')).rows[0];
    await database.pool.query(`alter database ${name} connection limit 20`);
    expect(await refusalOf(config())).toMatch(/may open 21 database connections, and the server allows 20: /);
    await database.pool.query(`alter database ${name} connection limit 21`);
    await closePools(await openDatabase(config()));
  });
});

describe.runIf(IS_CLUSTER)('the coordinator of a cluster', () => {
  const database = useDatabase();

  test('through a pooler', async () => {
    const config = { ...bareConfig(database.url), databaseDirectUrl: database.url };
    expect(await refusalOf(config)).toBe(
      'the tables are distributed: set DATABASE_URL to the coordinator, without a pooler, and leave DATABASE_DIRECT_URL out',
    );
  });
});

describe.skipIf(IS_CLUSTER)('through a pooler', () => {
  const database = useDatabase();
  const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  const limited = (names: readonly string[]) =>
    withSettings(
      database.url,
      names.map((name) => `${name}=9s`),
    );
  const config = (names: readonly string[], databaseDirectUrl: string) => ({
    ...bareConfig(limited(names)),
    databaseDirectUrl,
    migrationsDatabaseUrl: database.url,
  });

  test.each(LIMITS)('whose sessions have no %s', async (name) => {
    const others = LIMITS.filter((each) => each !== name);
    expect(await refusalOf(config(others, database.url))).toMatch(
      new RegExp(
        `^sessions of the pooler in DATABASE_URL have no ${name}: alter role \\w+ set ${name} = \\d+$`,
      ),
    );
  });

  test('with a direct address that is wrong', async () => {
    expect(await refusalOf(config(LIMITS, NOWHERE))).toMatch(
      /^the database of DATABASE_DIRECT_URL cannot be opened: /,
    );
    expect(await refusalOf(config(LIMITS, inject('adminUrl')))).toBe(
      'DATABASE_DIRECT_URL and DATABASE_URL must open the same database on the same server',
    );
  });

  test('that is right, whatever the budget of its own is', async () => {
    const many = { ...config(LIMITS, database.url), connectionBudget: budgetConnections(64, 100_000) };
    await closePools(await openDatabase(many));
  });
});

describe('of another SECRETS_KEY', () => {
  const database = useDatabase();
  const log = pino({ level: 'silent' });

  beforeAll(async () => {
    const service = await startService(bareConfig(database.url), log);
    await service.stop();
    // As if an update of the service had a migration that is missing.
    await database.pool.query(`delete from migrations where name = (select max(name) from migrations)`);
  });

  test.each(['by the role itself', 'by the owner'])('before anything is migrated %s', async (who) => {
    const config = {
      ...bareConfig(database.url),
      migrationsDatabaseUrl: who === 'by the owner' ? database.url : undefined,
      secretsKey: Buffer.alloc(32, 1),
    };
    expect(await refusalOf(config)).toMatch(
      /^SECRETS_KEY is not the one that the signing key \S+ was encrypted with$/,
    );
  });
});
