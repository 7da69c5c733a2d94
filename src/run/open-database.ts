/** Opens the database, brings it up to date, and gives the role of the service its rights. */
import { migrate } from '../base/db/migrate.ts';
import { openPool, type Pool } from '../base/db/pool.ts';
import { codeOf } from '../base/lib/error-code.ts';
import { orStartError, StartError } from '../base/lib/start-error.ts';

export interface DatabaseConfig {
  readonly databaseUrl: string;
  /** Opens the same database as the owner of its tables; `undefined`: `databaseUrl` does. */
  readonly migrationsDatabaseUrl: string | undefined;
  /** Database connections of this process. Default: that of `openPool()`. */
  readonly connectionsMax?: number;
}

/** Source: PostgreSQL, appendix A "Error Codes". */
const INSUFFICIENT_PRIVILEGE = '42501';

/** The connection of the owner is closed before the service serves. */
export async function openDatabase(config: DatabaseConfig): Promise<Pool> {
  const { databaseUrl, migrationsDatabaseUrl, connectionsMax } = config;
  const db = openPool(databaseUrl, connectionsMax === undefined ? {} : { max: connectionsMax });
  try {
    const role = await roleOf(db, 'DATABASE_URL');
    if (migrationsDatabaseUrl === undefined) await migrateAs(db);
    else await migrateFor(role, migrationsDatabaseUrl);
    return db;
  } catch (error) {
    await db.end();
    throw error;
  }
}

async function migrateFor(application: string, url: string): Promise<void> {
  const owner = openPool(url, { max: 1, applicationName: 'boxoffice migrations' });
  try {
    const role = await roleOf(owner, 'MIGRATIONS_DATABASE_URL');
    await migrate(owner, role === application ? undefined : application);
  } finally {
    await owner.end();
  }
}

async function migrateAs(db: Pool): Promise<void> {
  try {
    await migrate(db);
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE && codeOf((error as Error).cause) !== INSUFFICIENT_PRIVILEGE)
      throw error;
    throw new StartError(
      'the database has to be updated, and the role of DATABASE_URL may not: set MIGRATIONS_DATABASE_URL to its owner',
      { cause: error },
    );
  }
}

async function roleOf(db: Pool, variable: string): Promise<string> {
  const asking = () => db.query<{ role: string }>('select current_user as role');
  const { rows } = await orStartError(asking, `the database of ${variable} cannot be opened`);
  return rows[0]!.role;
}
