/** Opens the database, brings it up to date, and gives the role of the service its rights. */
import { migrate } from '../base/db/migrate.ts';
import { openPool, type Pool, PROCESS_CONNECTIONS_MAX } from '../base/db/pool.ts';
import { codeOf } from '../base/lib/error-code.ts';
import { orStartError, StartError } from '../base/lib/start-error.ts';

/** The database connections of a process. */
export interface Pools {
  readonly db: Pool;
  /** For `GatheredAdmissions`, so that joins that wait for the database delay no other calls. */
  readonly admissionDb: Pool;
}

export interface DatabaseConfig {
  readonly databaseUrl: string;
  /** Opens the same database as the owner of its tables; `undefined`: `databaseUrl` does. */
  readonly migrationsDatabaseUrl: string | undefined;
  /** Database connections of this process; default: `PROCESS_CONNECTIONS_MAX`. */
  readonly connectionsMax?: number;
}

const SHARE_OF_ADMISSIONS = 0.2;

/** Source: PostgreSQL, appendix A "Error Codes". */
const INSUFFICIENT_PRIVILEGE = '42501';

/** The connection of the owner is closed before the service serves. */
export async function openDatabase(config: DatabaseConfig): Promise<Pools> {
  const pools = openPools(config);
  const { migrationsDatabaseUrl } = config;
  try {
    const role = await roleOf(pools.db, 'DATABASE_URL');
    if (migrationsDatabaseUrl === undefined) await migrateAs(pools.db);
    else await migrateFor(role, migrationsDatabaseUrl);
    return pools;
  } catch (error) {
    await closePools(pools);
    throw error;
  }
}

/** Connections are opened when they are needed. */
function openPools({ databaseUrl, connectionsMax = PROCESS_CONNECTIONS_MAX }: DatabaseConfig): Pools {
  const ofAdmissions = Math.max(1, Math.floor(connectionsMax * SHARE_OF_ADMISSIONS));
  return {
    db: openPool(databaseUrl, { max: connectionsMax - ofAdmissions }),
    admissionDb: openPool(databaseUrl, { max: ofAdmissions, plansByKey: true }),
  };
}

export async function closePools({ db, admissionDb }: Pools): Promise<void> {
  await Promise.all([db.end(), admissionDb.end()]);
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
