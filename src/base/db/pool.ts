/** The connection pool, and what every connection of ours agrees on. */
import pg from 'pg';

export type Pool = pg.Pool;
/** One connection, inside a transaction. */
export type Tx = pg.PoolClient;
/** What can run one statement: the pool, or a connection inside a transaction. */
export type Db = Pick<pg.Pool, 'query'> | Pick<pg.PoolClient, 'query'>;

const INT8 = 20;

/**
 * Open a pool on `url`.
 *
 * No request waits for ever: a connection is had within 5 s or the request fails, and a statement
 * that outlives its 10 s is cancelled by the server, or given up by us when the server is silent.
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
    types: {
      // Eight-byte integers are money, quantities and tenant ids: none may pass through a float.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  });
  // A lost connection fails the statement that needs it, and one that is idle is replaced when it is
  // needed. Unheard, either event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}
