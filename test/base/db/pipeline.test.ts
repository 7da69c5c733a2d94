import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTogether, type Statement } from '../../../src/base/db/pipeline.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { BEGIN, inTransactionBegunBy } from '../../../src/base/db/transaction.ts';
import { codeOf } from '../../../src/base/lib/error-code.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
let tx: Tx;

beforeAll(async () => {
  await database.pool.query('create table numbers (id text primary key, value bigint not null)');
  tx = await database.pool.connect();
});
afterAll(() => tx.release());

const insert = (id: string, value = 0n): Statement => ({
  name: 'insert-number',
  text: 'insert into numbers values ($1, $2)',
  values: [id, value],
});

const find = (...ids: string[]): Statement<{ id: string; value: bigint }> => ({
  name: 'find-numbers',
  text: 'select id, value from numbers where id = any($1) order by id',
  values: [ids],
});

const broken: Statement = { name: 'divide-by-zero', text: 'select 1 / $1::integer', values: [0] };

/** A CopyData message. */
function copyData(text: string): Buffer {
  const bytes = Buffer.from(`d....${text}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

const copy = (...texts: string[]): Statement => ({
  name: 'copy-numbers',
  text: 'copy numbers from stdin',
  copyData: texts.map(copyData),
});

async function idsOf(...ids: string[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(find(...ids) as never);
  return rows.map(({ id }) => id);
}

describe('statements that run together', () => {
  it('return their own rows, and see what those before them did', async () => {
    const [none, , some, , more] = await runTogether(tx, [
      find('a', 'b'),
      insert('a', 2n ** 53n + 1n),
      find('a', 'b'),
      insert('b', -1n),
      find('a', 'b'),
    ]);
    expect(none).toEqual([]);
    expect(some).toEqual([{ id: 'a', value: 2n ** 53n + 1n }]);
    expect(more).toEqual([...some, { id: 'b', value: -1n }]);
  });

  it('are one transaction, and fail with the first error', async () => {
    const failing = runTogether(tx, [insert('kept out'), broken, insert('never tried')]);
    expect(codeOf(await failing.catch((error) => error))).toBe('22012');
    expect(await idsOf('kept out', 'never tried')).toEqual([]);
  });

  it('may throw an error of their own, and only their own', async () => {
    const explain = () => new Error('explained');
    await expect(runTogether(tx, [{ ...broken, explain }])).rejects.toThrow('explained');
    await expect(runTogether(tx, [insert('c'), broken, { ...insert('d'), explain }])).rejects.toThrow('zero');
  });

  it('run again on a connection where they were skipped, or failed, when they were new', async () => {
    const fresh = await database.pool.connect();
    try {
      await expect(runTogether(fresh, [broken, find('a'), insert('e')])).rejects.toThrow('zero');
      const [found] = await runTogether(fresh, [find('a'), insert('e')]);
      expect(found).toHaveLength(1);
      await expect(runTogether(fresh, [broken])).rejects.toThrow('zero');
    } finally {
      fresh.release(true);
    }
  });

  it('fail if one is not SQL, and the connection goes on', async () => {
    await expect(runTogether(tx, [insert('f'), { name: 'nonsense', text: 'selec' }])).rejects.toThrow(
      'syntax',
    );
    expect((await runTogether(tx, [find('a', 'f')]))[0]).toHaveLength(1);
  });

  it('may be a COPY of several messages between others', async () => {
    const [before, , after] = await runTogether(tx, [
      find('g', 'h'),
      copy('g\t1\nh', '\t2\n'),
      find('g', 'h'),
      insert('i'),
    ]);
    expect(before).toEqual([]);
    expect(after).toEqual([
      { id: 'g', value: 1n },
      { id: 'h', value: 2n },
    ]);
    expect(await idsOf('i')).toEqual(['i']);
  });

  it('are all undone if a COPY fails, before its data or in the middle', async () => {
    const many = Array.from({ length: 200 }, (_, at) =>
      `j${at}\t${at === 1 ? 'wrong' : at}\n`.padStart(4_000, 'x'),
    );
    await expect(runTogether(tx, [insert('k'), copy(...many), insert('l')])).rejects.toThrow('invalid input');
    const unknown = { ...copy(...many), name: 'copy-unknown', text: 'copy unknown from stdin' };
    await expect(runTogether(tx, [insert('k'), unknown, insert('l')])).rejects.toThrow('does not exist');
    expect(await idsOf('k', 'l', 'j0')).toEqual([]);
    expect((await runTogether(tx, [insert('k'), find('k')]))[1]).toHaveLength(1);
  });

  it('fail with the error of making the data', async () => {
    const fault = new Error('no more data');
    function* data() {
      yield copyData('m\t1\n');
      throw fault;
    }
    await expect(runTogether(tx, [{ ...copy(), copyData: data() }, insert('n')])).rejects.toBe(fault);
    expect(await idsOf('m', 'n')).toEqual([]);
    expect((await runTogether(tx, [find('a')]))[0]).toHaveLength(1);
  });
});

describe('inTransactionBegunBy', () => {
  it('commits what the work has begun', async () => {
    const result = await inTransactionBegunBy(database.pool, async (own) => {
      await runTogether(own, [BEGIN, insert('o')]);
      await own.query(`insert into numbers values ('p', 0)`);
      expect(await idsOf('o', 'p')).toEqual([]);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await idsOf('o', 'p')).toEqual(['o', 'p']);
  });

  it('rolls back if the work fails', async () => {
    const work = inTransactionBegunBy(database.pool, async (own) => {
      await runTogether(own, [BEGIN, insert('q')]);
      throw new Error('changed its mind');
    });
    await expect(work).rejects.toThrow('changed its mind');
    expect(await idsOf('q')).toEqual([]);
  });

  it.each([
    ['first', () => [BEGIN, insert('r'), broken]],
    ['later', () => [insert('r'), insert('r')]],
  ])('rolls back if one of the %s statements fails', async (_, statements) => {
    const work = inTransactionBegunBy(database.pool, async (own) => {
      await runTogether(own, [BEGIN, insert('s')]);
      await runTogether(own, statements());
    });
    expect(codeOf(await work.catch((error) => error))).toMatch(/22012|23505/);
    expect(await idsOf('r', 's')).toEqual([]);
    expect(database.pool.idleCount).toBe(database.pool.totalCount - 1);
  });

  it('repeats the work after a serialization failure', async () => {
    let runs = 0;
    await inTransactionBegunBy(database.pool, async (own) => {
      runs += 1;
      await runTogether(own, [BEGIN, insert('t')]);
      if (runs === 1) await own.query(`do $$ begin raise exception using errcode = '40001'; end $$`);
    });
    expect(runs).toBe(2);
    expect(await idsOf('t')).toEqual(['t']);
  });
});
