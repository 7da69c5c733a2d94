/** The connection pool and the settings of every connection. */
import pg from 'pg';
import { isDistributed } from './distribution.ts';
import { PooledClient } from './pooled-client.ts';

export type Pool = pg.Pool;
/** One connection, inside a transaction. */
export type Tx = Pick<pg.PoolClient, 'query'>;
/** Runs one statement: the pool, or a connection inside a transaction. */
export type Db = Pick<pg.Pool, 'query'> | Tx;

const INT8 = 20;

/**
 * A statement is planned once for each connection. PostgreSQL would otherwise plan it for each call where the
 * plan for those values looks cheaper, as for a tenant with few rows, though planning costs more.
 */
const PLANNED_ONCE = ['-c plan_cache_mode=force_generic_plan'];
/**
 * A kept plan finds each row by its key, whatever the planner knew of the tables when it made it. Otherwise a
 * plan from when a table was empty reads the whole table for each statement, until the statistics change.
 */
const BY_KEY = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map(
  (setting) => `-c ${setting}=off`,
);

/**
 * Citus plans a statement for the server that has the tenant, so it needs the values; it keeps plans by itself. Time
 * limits of a transaction hold on the workers too. A sweep of all tenants opens one connection to each worker, where Citus would
 * open up to 16, and so takes nothing from the charges meanwhile.
 */
const DISTRIBUTED = [
  'plan_cache_mode=auto',
  'citus.propagate_set_commands=local',
  'citus.max_adaptive_executor_pool_size=1',
].map((setting) => `-c ${setting}`);

/** Connections of one process, unless it is given another number. */
export const PROCESS_CONNECTIONS_MAX = 20;

export interface PoolOptions {
  /** Default: `PROCESS_CONNECTIONS_MAX`. */
  readonly max?: number;
  readonly applicationName?: string;
  /** For statements that find each row by its key. */
  readonly plansByKey?: boolean;
  /** How long a statement waits for a lock, in ms. Default: that of `SESSION_LIMITS`. */
  readonly lockMs?: number;
  /** Opens the same database without the pooler. Given if the pool's own address is that of a pooler in transaction mode. */
  readonly directUrl?: string | undefined;
}

interface PoolConfig extends pg.PoolConfig {
  /** The settings of connections without the pooler. */
  readonly direct?: pg.ClientConfig;
}

/**
 * Open a pool on `url`.
 *
 * No request waits for ever. Getting a connection fails after 5 s. The server cancels a statement after
 * 10 s; if the server is silent, the client gives up after 12 s.
 */
export function openPool(url: string, options: PoolOptions = {}): Pool {
  const { directUrl } = options;
  const pool = new pg.Pool(
    directUrl === undefined ? sessionConfig(url, options) : pooledConfig(url, directUrl, options),
  );
  // A lost connection fails its statement, and a lost idle connection is replaced when needed. Without
  // these handlers, either event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

function settingsOf({ plansByKey = false }: PoolOptions): readonly string[] {
  if (isDistributed()) return DISTRIBUTED;
  return plansByKey ? [...PLANNED_ONCE, ...BY_KEY] : PLANNED_ONCE;
}

/** For a connection beside the pool that keeps its session: to listen, to lock, or to read for hours. */
export function directConfig({ options }: Pool): pg.ClientConfig {
  return (options as PoolConfig).direct ?? options;
}

/**
 * Work on a connection outside the pool, without its time limits: the work may take longer, or wait for another process. The
 * connection ends with it, which releases its locks.
 */
export async function onLongConnection<T>(pool: Pool, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...directConfig(pool),
    query_timeout: 0,
    statement_timeout: 0,
    lock_timeout: 0,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    // A pooler may not hand the settings on.
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The time limits of a session, in ms. A pooler does not hand them on: there, the role has to have them. */
export const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 8_000,
  idle_in_transaction_session_timeout: 15_000,
};

function sessionConfig(url: string, options: PoolOptions): pg.PoolConfig {
  return {
    ...clientConfig(url, options),
    ...SESSION_LIMITS,
    ...(options.lockMs === undefined ? {} : { lock_timeout: options.lockMs }),
    options: settingsOf(options).join(' '),
  };
}

function pooledConfig(url: string, directUrl: string, options: PoolOptions): PoolConfig {
  return { ...clientConfig(url, options), Client: PooledClient, direct: sessionConfig(directUrl, options) };
}

function clientConfig(url: string, options: PoolOptions): pg.PoolConfig {
  return {
    connectionString: url,
    max: options.max ?? PROCESS_CONNECTIONS_MAX,
    application_name: options.applicationName ?? 'boxoffice',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    query_timeout: 12_000,
    types: {
      // Eight-byte integers are money, quantities and tenant ids: none may pass through a float.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  };
}
