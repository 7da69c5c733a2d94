/** One state of the whole database, for work that reads all of it. */
import pg from 'pg';
import { Failure } from '../failure.ts';
import { isDistributed } from './distribution.ts';
import { directConfig, type Pool } from './pool.ts';

export interface Snapshot {
  readonly db: pg.Client;
  /** Ends the connection. A statement that runs then fails. */
  close(): Promise<void>;
}

interface SnapshotOptions {
  /** When it is aborted, the connection ends and reads fail. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * A snapshot until it is closed, on a connection of its own: the pool cancels a statement after some seconds, and
 * reading everything may take hours.
 */
export async function openSnapshot(pool: Pool, { stopping }: SnapshotOptions = {}): Promise<Snapshot> {
  const { types, connectionString, application_name: name } = directConfig(pool);
  const client = new pg.Client({
    connectionString,
    application_name: name,
    keepAlive: true,
    ...(types && { types }),
  });
  // The statement that is lost with the connection fails; the event alone would end the process.
  client.on('error', () => {});
  const end = () => void client.end();
  const close = async () => {
    stopping?.removeEventListener('abort', end);
    await client.end();
  };
  stopping?.addEventListener('abort', end);
  try {
    stopping?.throwIfAborted();
    await client.connect();
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    return { db: client, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A snapshot for the duration of `work`. Where tables are distributed, each server has one of its own, which lacks all rows of a shard
 * that moves there later: then it fails with `overloaded` in place of a result.
 */
export async function withSnapshot<T>(
  pool: Pool,
  work: (snapshot: pg.Client) => Promise<T>,
  options: SnapshotOptions = {},
): Promise<T> {
  const places = await findPlaces(pool);
  const snapshot = await openSnapshot(pool, options);
  try {
    const result = await work(snapshot.db);
    await snapshot.db.query('commit');
    if ((await findPlaces(pool)) !== places) throw new Failure('overloaded', { message: MOVED });
    return result;
  } finally {
    await snapshot.close();
  }
}

const MOVED = 'tenants were moved to other database servers while their rows were read: try again afterwards';

/** Another text after a shard has moved. */
async function findPlaces(pool: Pool): Promise<string | undefined> {
  if (!isDistributed()) return undefined;
  const { rows } = await pool.query<{ places: string }>(
    `select md5(string_agg(shardid || ' ' || groupid, ',' order by shardid, groupid)) as places from pg_dist_placement`,
  );
  return rows[0]!.places;
}
