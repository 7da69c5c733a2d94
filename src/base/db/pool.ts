/** The connection pool and the settings of every connection. */
import pg from 'pg';

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

/** Of one process, unless it is given another number. */
export const PROCESS_CONNECTIONS_MAX = 20;

export interface PoolOptions {
  /** Default: `PROCESS_CONNECTIONS_MAX`. */
  readonly max?: number;
  readonly applicationName?: string;
  /** For statements that find each row by its key. */
  readonly plansByKey?: boolean;
}

/**
 * Open a pool on `url`.
 *
 * No request waits for ever. Getting a connection fails after 5 s. The server cancels a statement after
 * 10 s; if the server is silent, the client gives up after 12 s.
 */
export function openPool(url: string, options: PoolOptions = {}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? PROCESS_CONNECTIONS_MAX,
    application_name: options.applicationName ?? 'boxoffice',
    options: [...PLANNED_ONCE, ...(options.plansByKey ? BY_KEY : [])].join(' '),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: 10_000,
    lock_timeout: 8_000,
    idle_in_transaction_session_timeout: 15_000,
    query_timeout: 12_000,
    types: {
      // Eight-byte integers are money, quantities and tenant ids: none may pass through a float.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  });
  // A lost connection fails its statement, and a lost idle connection is replaced when needed. Without
  // these handlers, either event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}
