import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPool, type Pool, type Tx } from '../../../src/base/db/pool.ts';
import { inTransaction, violatesUnique } from '../../../src/base/db/transaction.ts';
import { codeOf } from '../../../src/base/lib/error-code.ts';
import { useDatabase } from '../../support/database.ts';
import { type DatabaseProxy, openDatabaseProxy } from './proxy.ts';

const database = useDatabase();

beforeAll(async () => {
  await database.pool.query('create table numbers (id text primary key, value integer not null)');
});

async function findValue(id: string): Promise<number | undefined> {
  const { rows } = await database.pool.query('select value from numbers where id = $1', [id]);
  return rows[0]?.value;
}

function insert(tx: Tx, id: string, value = 0) {
  return tx.query('insert into numbers (id, value) values ($1, $2)', [id, value]);
}

describe('inTransaction', () => {
  it('commits and returns the result of the work', async () => {
    const result = await inTransaction(database.pool, async (tx) => {
      await insert(tx, 'committed', 7);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await findValue('committed')).toBe(7);
  });

  it('rolls back, throws the error of the work, and releases its connection', async () => {
    const fault = new Error('changed its mind');
    const work = inTransaction(database.pool, async (tx) => {
      await insert(tx, 'rolled back');
      throw fault;
    });
    await expect(work).rejects.toBe(fault);
    expect(await findValue('rolled back')).toBeUndefined();
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  it('drops a connection to a server that refuses to write', async () => {
    const pool = openPool(database.url, { max: 1 });
    const write = () => inTransaction(pool, (tx) => insert(tx, 'after the change of the primary'));
    // As with a server that is a standby from now on.
    await pool.query('set default_transaction_read_only = on');
    await expect(write()).rejects.toMatchObject({ code: '25006' });
    await write();
    expect(await findValue('after the change of the primary')).toBe(0);
    await pool.end();
  });

  it('repeats a transaction that PostgreSQL aborted to resolve a deadlock', async () => {
    await database.pool.query(`insert into numbers values ('left', 0), ('right', 0)`);
    const both = Promise.withResolvers<void>();
    let holders = 0;
    let runs = 0;
    const addTo = (rows: [string, string]) =>
      inTransaction(database.pool, async (tx) => {
        runs += 1;
        // The repeated transaction locks in the same order as the other, so that they cannot deadlock again.
        const [first, second] = rows.reverse();
        await tx.query('update numbers set value = value + 1 where id = $1', [first]);
        holders += 1;
        if (holders === 2) both.resolve();
        await both.promise;
        await tx.query('update numbers set value = value + 1 where id = $1', [second]);
      });
    await Promise.all([addTo(['left', 'right']), addTo(['right', 'left'])]);
    expect(runs).toBe(3);
    expect([await findValue('left'), await findValue('right')]).toEqual([2, 2]);
  });

  it('gives up after four runs', async () => {
    let runs = 0;
    const work = inTransaction(database.pool, async (tx) => {
      runs += 1;
      await insert(tx, 'never');
      await tx.query(`do $$ begin raise exception 'again' using errcode = '40001'; end $$`);
    });
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(runs).toBe(4);
    expect(await findValue('never')).toBeUndefined();
  });

  it('does not repeat a transaction that fails for another reason', async () => {
    let runs = 0;
    const work = inTransaction(database.pool, async (tx) => {
      runs += 1;
      await insert(tx, 'committed');
    });
    const error = await work.catch((thrown: unknown) => thrown);
    expect(runs).toBe(1);
    expect(codeOf(error)).toBe('23505');
    expect(violatesUnique(error)).toBe(true);
    expect(violatesUnique(new Error('another'))).toBe(false);
  });

  it('survives a connection that the server ends, and the pool opens another', async () => {
    const work = inTransaction(database.pool, async (tx) => {
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await insert(tx, 'ended');
      await database.pool.query('select pg_terminate_backend($1::integer, 5000)', [rows[0].pid]);
      await insert(tx, 'ended too');
    });
    await expect(work).rejects.toThrow();
    expect(await findValue('ended')).toBeUndefined();
    await inTransaction(database.pool, (tx) => insert(tx, 'after the end', 1));
    expect(await findValue('after the end')).toBe(1);
  });
});

describe('a connection cut during COMMIT', () => {
  let proxy: DatabaseProxy;
  let pool: Pool;

  beforeAll(async () => {
    proxy = await openDatabaseProxy(database.url);
    pool = openPool(proxy.url);
  });
  afterAll(async () => {
    await pool.end();
    await proxy.close();
  });

  async function commitOnce(id: string): Promise<number> {
    let runs = 0;
    const work = inTransaction(pool, async (tx) => {
      runs += 1;
      await insert(tx, id, 1);
    });
    await expect(work).rejects.toThrow();
    proxy.cutBefore(undefined);
    proxy.cutAfter(undefined);
    return runs;
  }

  it('throws and does not repeat if the commit was not received', async () => {
    proxy.cutBefore('commit');
    expect(await commitOnce('too early')).toBe(1);
    expect(await findValue('too early')).toBeUndefined();
  });

  it('throws and does not repeat if only the answer was lost', async () => {
    proxy.cutAfter('commit');
    expect(await commitOnce('answer lost')).toBe(1);
    expect(await findValue('answer lost')).toBe(1);
  });
});
