import pg from 'pg';
import { expect, test } from 'vitest';
import { outageOf } from '../../../src/base/db/outage.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a host without a database is unavailable', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const pool = openPool(`postgres://somebody@${host}:1/x`);
    expect(outageOf(await errorOf(pool.query('select 1')))).toBe('unavailable');
    await pool.end();
    expect(outageOf(await errorOf(pool.query('select 1')))).toBe('unavailable');
  }
});

test('a connection that the server ended is unavailable', async () => {
  const pool = openPool(database.url, { max: 1 });
  expect(outageOf(await errorOf(pool.query('select pg_terminate_backend(pg_backend_pid())')))).toBe(
    'unavailable',
  );
  await pool.end();
});

test.each([
  [
    'XX000',
    'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally',
  ],
  ['XX000', 'could not receive data from server: Connection timed out'],
  ['58030', 'failed to COPY to shard 102011 on 192.0.2.7:5432'],
  ['XX000', 'failure on connection marked as essential: 192.0.2.7:5432'],
])('%s: a worker that is lost in a statement is unavailable', (code, message) => {
  expect(outageOf(Object.assign(new Error(message), { code }))).toBe('unavailable');
});

test('a statement or a lock that takes too long exceeds the deadline', async () => {
  // The timeouts of the server and of the client, each alone.
  for (const limit of [{ statement_timeout: 20 }, { query_timeout: 300 }]) {
    const client = new pg.Client({ connectionString: database.url, ...limit });
    await client.connect();
    expect(outageOf(await errorOf(client.query('select pg_sleep(30)')))).toBe('deadline_exceeded');
    await client.end();
  }
});

test.each([
  ['08006', 'unavailable'],
  ['53300', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57P03', 'unavailable'],
  ['40001', 'unavailable'],
  ['40P01', 'unavailable'],
  ['25006', 'unavailable'],
  ['57014', 'deadline_exceeded'],
  ['55P03', 'deadline_exceeded'],
  ['ECONNRESET', 'unavailable'],
  ['ENOTFOUND', 'unavailable'],
  ['42P01', undefined],
  ['23505', undefined],
  ['XX000', undefined],
])('%s: %s', (code, outage) => {
  expect(outageOf(Object.assign(new Error('x'), { code }))).toBe(outage);
});

test('the first error decides for a host with several addresses', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(outageOf(new AggregateError([refused, refused]))).toBe('unavailable');
});

test.each([undefined, 'ECONNRESET', {}, new Error('no luck'), new TypeError('timeout')])(
  '%s is a bug',
  (thrown) => {
    expect(outageOf(thrown)).toBeUndefined();
  },
);
