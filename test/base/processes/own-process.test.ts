import { beforeEach, describe, expect, test, vi } from 'vitest';
import { OwnProcess } from '../../../src/base/processes/own-process.ts';
import { deleteGone } from '../../../src/base/processes/processes.sql.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
let one: OwnProcess;
let other: OwnProcess;

beforeEach(async () => {
  await database.pool.query('delete from processes');
  [one, other] = [new OwnProcess(database.pool), new OwnProcess(database.pool)];
  await one.beat();
  await other.beat();
});

/** As if it had said nothing for so long. */
const silence = (id: string, seconds: number) =>
  database.pool.query('update processes set seen_at = now() - make_interval(secs => $2) where id = $1', [
    id,
    seconds,
  ]);

describe('a process', () => {
  test('that says that it lives is not gone', async () => {
    await silence(other.id, 3);
    expect(await one.beat()).toBe(false);
    expect([one.isAlive(), one.gone]).toEqual([true, []]);
  });

  test('that is silent is gone for the others, which learn it once', async () => {
    await silence(other.id, 5);
    expect(await one.beat()).toBe(true);
    expect(one.gone).toEqual([other.id]);
    expect(await one.beat()).toBe(false);
  });

  test('that was gone loses its leases, and goes on under another id', async () => {
    const { id } = other;
    const lose = vi.fn();
    other.onLost(lose);
    await silence(id, 5);
    await one.beat();
    await other.beat();
    expect(lose).toHaveBeenCalledTimes(1);
    expect(other.id).not.toBe(id);
    expect(other.isAlive()).toBe(true);
    expect(await one.beat()).toBe(false);
    expect(one.gone).toEqual([id]);
  });

  test('knows by its own clock that it may be gone', async () => {
    const real = performance.now.bind(performance);
    const now = vi.spyOn(performance, 'now');
    try {
      now.mockImplementation(() => real() + 3_300);
      expect(one.isAlive()).toBe(true);
      now.mockImplementation(() => real() + 3_600);
      expect(one.isAlive()).toBe(false);
    } finally {
      now.mockRestore();
    }
  });

  test('that could not ask the database for seconds does not judge the others at once', async () => {
    const real = performance.now.bind(performance);
    const now = vi.spyOn(performance, 'now').mockImplementation(() => real() + 10_000);
    try {
      await silence(other.id, 12);
      expect(await one.beat()).toBe(false);
      expect(await one.beat()).toBe(true);
    } finally {
      now.mockRestore();
    }
  });

  test('that ends is gone at once', async () => {
    await other.end();
    expect(other.isAlive()).toBe(false);
    expect(await one.beat()).toBe(true);
    expect(one.gone).toEqual([other.id]);
  });
});

test('of twenty processes that judge and a note that it lives, exactly one wins', async () => {
  const judges = Array.from({ length: 20 }, () => new OwnProcess(database.pool));
  for (const each of judges) await each.beat();
  await silence(other.id, 5);
  const { id } = other;
  await Promise.all([...judges.map((each) => each.beat()), other.beat()]);
  await one.beat();
  expect(one.gone.includes(id)).toBe(other.id !== id);
});

test('rows of processes that went an hour ago are deleted', async () => {
  await database.pool.query(`update processes set gone_at = now() - interval '61 minutes' where id = $1`, [
    other.id,
  ]);
  expect(await deleteGone(database.pool, 10)).toBe(1);
  expect((await database.pool.query('select id from processes')).rows).toEqual([{ id: one.id }]);
});
