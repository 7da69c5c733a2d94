import { beforeAll, expect, test } from 'vitest';
import { runTogether, type Statement } from '../../../src/base/db/pipeline.ts';
import type { Pool, Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { codeOf } from '../../../src/base/lib/error-code.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

beforeAll(async () => {
  await database.pool.query('create table numbers (id text primary key, value bigint not null)');
});

const insert = (id: string, value = 0n) => ({
  name: 'insert-number',
  text: 'insert into numbers values ($1, $2)',
  values: [id, value],
});
const find = (...ids: string[]) => ({
  name: 'find-numbers',
  text: 'select id, value from numbers where id = any($1) order by id',
  values: [ids],
});
const broken: Statement = { name: 'divide-by-zero', text: 'select 1 / $1::integer', values: [0] };

async function idsOf(...ids: string[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(find(...ids));
  return rows.map(({ id }) => id);
}

/** The same database. Notes what goes to it in each round trip. */
function counting(): { readonly pool: Pool; readonly trips: string[] } {
  const trips: string[] = [];
  const connect = async () => {
    const connection = await database.pool.connect();
    const query = (...given: unknown[]) => {
      const statement = given[0] as { statements?: Statement[]; name?: string } | string;
      if (typeof statement === 'string') trips.push(statement);
      else trips.push(statement.statements?.map(({ name }) => name).join(' + ') ?? statement.name!);
      return (connection.query as (...all: unknown[]) => unknown).call(connection, ...given);
    };
    return { query, release: (error?: Error) => connection.release(error) };
  };
  return { pool: { connect } as unknown as Pool, trips };
}

test('begins with the first statement, and returns its result', async () => {
  const { pool, trips } = counting();
  const [first, second] = await inTransaction(pool, async (tx) => [
    await tx.query(insert('a', 2n)),
    await tx.query<{ value: bigint }>(find('a', 'b')),
  ]);
  expect(first).toMatchObject({ rowCount: 1, rows: [] });
  expect(second).toMatchObject({ rowCount: 1, rows: [{ id: 'a', value: 2n }] });
  expect(trips).toEqual(['begin + insert-number', 'find-numbers', 'commit']);
  expect(await idsOf('a')).toEqual(['a']);
});

test('begins with statements that run together', async () => {
  const { pool, trips } = counting();
  const found = await inTransaction(pool, (tx) => runTogether(tx, [insert('c'), find('c')]));
  expect(found).toEqual([[], [{ id: 'c', value: 0n }]]);
  expect(trips).toEqual(['begin + insert-number + find-numbers', 'commit']);
});

test('begins before a statement that is only text, and before others that do not wait for it', async () => {
  const { pool, trips } = counting();
  await inTransaction(pool, (tx) =>
    Promise.all([tx.query(`insert into numbers values ('d', 0)`), tx.query(insert('e'))]),
  );
  expect(trips[0]).toBe('begin');
  expect(await idsOf('d', 'e')).toEqual(['d', 'e']);
});

test('takes statements between BEGIN and the work, and with COMMIT', async () => {
  const { pool, trips } = counting();
  const work = async (tx: Tx) => (await tx.query(find('f'))).rowCount!;
  const count = await inTransaction(pool, work, {
    first: [insert('f')],
    last: (found) => [insert(`g${found}`)],
  });
  expect(count).toBe(1);
  expect(trips).toEqual(['begin + insert-number + find-numbers', 'insert-number + commit']);
  expect(await idsOf('f', 'g1')).toEqual(['f', 'g1']);
});

test('work without a statement begins nothing, unless something goes first or last', async () => {
  const { pool, trips } = counting();
  expect(await inTransaction(pool, async () => 'done')).toBe('done');
  await expect(inTransaction(pool, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(trips).toEqual([]);
  await inTransaction(pool, async () => {}, { first: [insert('h')], last: () => [insert('i')] });
  expect(trips).toEqual(['begin + insert-number + insert-number + commit']);
  expect(await idsOf('h', 'i')).toEqual(['h', 'i']);
});

test('work that fails without a statement fails after what goes first', async () => {
  const { pool, trips } = counting();
  const work = () => Promise.reject(new Error('no'));
  await expect(inTransaction(pool, work, { first: [insert('j')] })).rejects.toThrow('no');
  await expect(inTransaction(pool, work, { first: [broken] })).rejects.toThrow('zero');
  expect(trips).toEqual(['begin + insert-number', 'rollback', 'begin + divide-by-zero', 'rollback']);
  expect(await idsOf('j')).toEqual([]);
});

test('may begin by other SQL', async () => {
  const { pool, trips } = counting();
  const level = await inTransaction(
    pool,
    async (tx) => (await tx.query({ name: 'level', text: 'show transaction_isolation' })).rows,
    { begin: 'begin isolation level serializable' },
  );
  expect(level).toEqual([{ transaction_isolation: 'serializable' }]);
  expect(trips).toEqual(['begin isolation level serializable', 'level', 'commit']);
});

test.each<[string, readonly Statement[], (tx: Tx) => Promise<unknown>, readonly Statement[]]>([
  ['one that goes first', [insert('x'), broken], (tx) => tx.query(insert('y')), []],
  ['the first of the work', [insert('x')], (tx) => tx.query(broken as never), []],
  ['a later one', [insert('x')], (tx) => tx.query(insert('y')).then(() => tx.query(broken as never)), []],
  ['one that goes with COMMIT', [insert('x')], (tx) => tx.query(insert('y')), [insert('z'), broken]],
])('a failure of %s rolls back all', async (_, first, work, last) => {
  const { pool, trips } = counting();
  const failing = inTransaction(pool, work, { first, last: () => last });
  expect(codeOf(await failing.catch((error) => error))).toBe('22012');
  expect(trips.at(-1)).toBe('rollback');
  expect(await idsOf('x', 'y', 'z')).toEqual([]);
  expect(database.pool.idleCount).toBe(database.pool.totalCount);
  // The connection is outside a transaction, and goes on.
  expect(await inTransaction(pool, async (tx) => (await tx.query(find('x'))).rowCount)).toBe(0);
});

test('after a deadlock or a serialization failure, BEGIN is sent again', async () => {
  const { pool, trips } = counting();
  let runs = 0;
  await inTransaction(pool, async (tx) => {
    runs += 1;
    await tx.query(insert('t'));
    if (runs === 1) await tx.query(`do $$ begin raise exception using errcode = '40001'; end $$`);
  });
  expect(trips.filter((trip) => trip === 'begin + insert-number')).toHaveLength(2);
  expect(await idsOf('t')).toEqual(['t']);
});
