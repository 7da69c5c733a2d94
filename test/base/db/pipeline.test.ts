import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultsOf, runTogether, type Statement } from '../../../src/base/db/pipeline.ts';
import { codeOf } from '../../../src/base/lib/error-code.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
let tx: pg.PoolClient;

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

  it('may check their rows, whether or not a later one failed', async () => {
    await runTogether(tx, [insert('checked')]);
    const check = (rows: readonly { readonly id: string }[]) => {
      if (rows.length > 0) throw new Error(`found ${rows[0]!.id}`);
    };
    const checked = { ...find('checked'), check };
    await expect(runTogether(tx, [checked, find('a')])).rejects.toThrow('found checked');
    await expect(runTogether(tx, [checked, broken])).rejects.toThrow('found checked');
    await expect(runTogether(tx, [broken, checked])).rejects.toThrow('zero');
    await expect(runTogether(tx, [{ ...find('none'), check }, broken])).rejects.toThrow('zero');
    expect(await runTogether(tx, [{ ...find('none'), check }])).toEqual([[]]);
  });

  it('have results like those of the driver', async () => {
    const [inserted, found] = await resultsOf(tx, [insert('counted'), find('counted', 'none')]);
    expect(inserted).toMatchObject({ command: 'INSERT', rowCount: 1, rows: [] });
    expect(found).toMatchObject({ command: 'SELECT', rowCount: 1, rows: [{ id: 'counted', value: 0n }] });
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
