/** Opens the database, brings it up to date, and gives the role of the service its rights. */
import { checkSealedKeys } from '../access/tokens/rotate-signing-keys.ts';
import { isDistributed, readDistribution } from '../base/db/distribution.ts';
import { type Migrating, migrate } from '../base/db/migrate.ts';
import { openPool, type Pool } from '../base/db/pool.ts';
import { codeOf } from '../base/lib/error-code.ts';
import { SecretBox } from '../base/lib/secret-box.ts';
import { StartError } from '../base/lib/start-error.ts';
import { assertSamePlace, checkPooler, type Look, lookAt } from './check-database.ts';
import type { Config } from './config.ts';
import { assertEnoughConnections } from './connection-budget.ts';
import { distribute } from './distribution/distribute.ts';
import { type Waiting, waitForDatabase } from './wait-for-database.ts';

/** The database connections of a process. */
export interface Pools {
  readonly db: Pool;
  /** For `GatheredAdmissions`, so that joins that wait for the database delay no other calls. */
  readonly admissionDb: Pool;
  /** For background work. On one server, that of the calls: it never hangs while calls do not. */
  readonly backgroundDb: Pool;
  /** For looks at the servers of a distributed database, which wait for those that hang. On one server, that of the calls. */
  readonly watchDb: Pool;
}

export interface DatabaseConfig
  extends Pick<
    Config,
    | 'databaseDirectUrl'
    | 'migrationsDatabaseUrl'
    | 'databaseWaitSeconds'
    | 'connectionBudget'
    | 'secretsKeyFallback'
  > {
  readonly databaseUrl: string;
  readonly secretsKey: Buffer;
}

const SHARE_OF_ADMISSIONS = 0.2;
/**
 * A shared statement waits no longer for a lock that it cannot skip. Then each join or mint goes alone, and one that needs the
 * lock waits elsewhere.
 */
const LOCK_MS_OF_ADMISSIONS = 100;
/** The part of the connections that background work has on a distributed database. Work that asks all servers waits for each, and calls of one tenant should not wait with it. */
const SHARE_OF_BACKGROUND = 0.2;

/** Source: PostgreSQL, appendix A "Error Codes". */
const INSUFFICIENT_PRIVILEGE = '42501';

/** A pooler does not hand on the settings that sessions need there. */
const POOLER_OF_COORDINATOR =
  'the tables are distributed: set DATABASE_URL to the coordinator, without a pooler, and leave DATABASE_DIRECT_URL out';

/**
 * The connection of the owner is closed before the service serves.
 *
 * Waits for a database that is not there yet. Fails with `StartError`, and has changed nothing, if it does not come, if an
 * address is wrong, or if the database is that of another SECRETS_KEY.
 */
export async function openDatabase(
  config: DatabaseConfig,
  log?: Waiting['log'],
  ending?: AbortSignal,
): Promise<Pools> {
  const waiting = { until: Date.now() + config.databaseWaitSeconds * 1_000, log, ending };
  const wait = (look: () => Promise<Look>) => waitForDatabase(look, waiting);
  let pools = openPools(config);
  const { migrationsDatabaseUrl, secretsKey, secretsKeyFallback } = config;
  const box = new SecretBox(secretsKey, secretsKeyFallback);
  try {
    const look = await wait(() => lookAt(pools.db, 'DATABASE_URL'));
    await readDistribution(pools.db);
    // A pooler has a budget of its own.
    if (config.databaseDirectUrl === undefined) assertEnoughConnections(look, config.connectionBudget);
    else if (isDistributed()) throw new StartError(POOLER_OF_COORDINATOR);
    else await checkPooler(pools.db, look, wait);
    if (isDistributed()) pools = await openAgain(pools, config);
    if (migrationsDatabaseUrl === undefined) await migrateAs(pools.db, look, box, log);
    else await migrateFor(look, migrationsDatabaseUrl, box, waiting);
    return pools;
  } catch (error) {
    await closePools(pools);
    throw error;
  }
}

/** Connections to a distributed database have settings of their own. */
async function openAgain(pools: Pools, config: DatabaseConfig): Promise<Pools> {
  await closePools(pools);
  return openPools(config);
}

/** Connections are opened when they are needed. */
function openPools({ databaseUrl, databaseDirectUrl: directUrl, connectionBudget }: DatabaseConfig): Pools {
  const { ofEach } = connectionBudget;
  const ofAdmissions = Math.max(1, Math.floor(ofEach * SHARE_OF_ADMISSIONS));
  const ofBackground = isDistributed() ? Math.max(1, Math.floor(ofEach * SHARE_OF_BACKGROUND)) : 0;
  const ofWatch = isDistributed() ? 1 : 0;
  const db = openPool(databaseUrl, { max: ofEach - ofAdmissions - ofBackground - ofWatch, directUrl });
  return {
    db,
    admissionDb: openPool(databaseUrl, {
      max: ofAdmissions,
      plansByKey: true,
      lockMs: LOCK_MS_OF_ADMISSIONS,
      directUrl,
    }),
    backgroundDb: ofBackground === 0 ? db : openPool(databaseUrl, { max: ofBackground, directUrl }),
    watchDb: ofWatch === 0 ? db : openPool(databaseUrl, { max: ofWatch, directUrl }),
  };
}

/** Each of them once. */
export function allOf({ db, admissionDb, backgroundDb, watchDb }: Pools): readonly Pool[] {
  return [...new Set([db, admissionDb, backgroundDb, watchDb])];
}

export async function closePools(pools: Pools): Promise<void> {
  await Promise.all(allOf(pools).map((pool) => pool.end()));
}

async function migrateFor(application: Look, url: string, box: SecretBox, waiting: Waiting): Promise<void> {
  const owner = openPool(url, { max: 1, applicationName: 'boxoffice migrations' });
  try {
    const look = await waitForDatabase(() => lookAt(owner, 'MIGRATIONS_DATABASE_URL'), waiting);
    assertSamePlace(application, look, 'MIGRATIONS_DATABASE_URL');
    if (look.hasSigningKeys) await checkSealedKeys(owner, box);
    const role = look.role === application.role ? undefined : application.role;
    await bringUpToDate(owner, { application: role, log: waiting.log });
  } finally {
    await owner.end();
  }
}

async function migrateAs(db: Pool, look: Look, box: SecretBox, log: Waiting['log']): Promise<void> {
  try {
    if (look.hasSigningKeys) await checkSealedKeys(db, box);
    await bringUpToDate(db, { log });
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE && codeOf((error as Error).cause) !== INSUFFICIENT_PRIVILEGE)
      throw error;
    throw new StartError(
      'the database has to be updated, and the role of DATABASE_URL may not: set MIGRATIONS_DATABASE_URL to its owner',
      { cause: error },
    );
  }
}

/**
 * Where tables are distributed, those that a migration adds are distributed too, before the next migration: so that
 * one may add foreign keys to a table that the one before it has filled.
 */
export async function bringUpToDate(db: Pool, migrating: Migrating = {}): Promise<void> {
  const place = async () => {
    if (isDistributed()) await distribute(db, () => undefined);
  };
  await migrate(db, { ...migrating, beforeEach: place });
  await place();
}
