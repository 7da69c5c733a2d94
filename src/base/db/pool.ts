/** The connection pool and the settings of every connection. */
import pg from 'pg';

export type Pool = pg.Pool;
/** One connection, inside a transaction. */
export type Tx = pg.PoolClient;
/** Runs one statement: the pool, or a connection inside a transaction. */
export type Db = Pick<pg.Pool, 'query'> | Pick<pg.PoolClient, 'query'>;

const INT8 = 20;

/**
 * Open a pool on `url`.
 *
 * No request waits for ever. Getting a connection fails after 5 s. The server cancels a statement after
 * 10 s; if the server is silent, the client gives up after 12 s.
 */
export function openPool(url: string, options: { max?: number; applicationName?: string } = {}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 20,
    application_name: options.applicationName ?? 'boxoffice',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: 10_000,
    lock_timeout: 8_000,
    idle_in_transaction_session_timeout: 15_000,
    query_timeout: 12_000,
    // A statement is planned once for each connection. PostgreSQL would otherwise plan it for each call where
    // the plan for those values looks cheaper, as for a tenant with few rows, though planning costs more.
    options: '-c plan_cache_mode=force_generic_plan',
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
