import { expect, test } from 'vitest';
import { RateLimit } from '../../../src/base/limits/rate-limit.ts';
import { deleteEndedWindows } from '../../../src/base/limits/rate-limits.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { openHolder } from '../../support/holder.ts';

const database = useDatabase();
const limitOf = (name: string) => new RateLimit(database.pool, { name, seconds: 60 });
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));
const endWindow = (key: string) =>
  database.pool.query('update rate_limits set expire = extract(epoch from now()) * 1000 where key = $1', [
    key,
  ]);

test('counts that come together are counted one by one, for each key', async () => {
  const limit = limitOf('together');
  const [a, b] = await Promise.all([
    times(5, () => limit.count('a', 3)),
    times(2, () => limit.count('b', 3)),
  ]);
  expect(a.map((waitMs) => waitMs === undefined)).toStrictEqual([true, true, true, false, false]);
  expect(b).toStrictEqual([undefined, undefined]);
});

test('what is more than one is counted as a whole', async () => {
  const limit = limitOf('amounts');
  const counted = await Promise.all([
    limit.count('a', 10, 6),
    limit.count('a', 10, 4),
    limit.count('a', 10, 1),
  ]);
  expect(counted.map((waitMs) => waitMs === undefined)).toStrictEqual([true, true, false]);
  expect(await limit.add('a', 5)).toMatchObject({ points: 16 });
});

test('several processes count together', async () => {
  const limits = [limitOf('shared'), limitOf('shared')];
  const counted = (await Promise.all(limits.map((limit) => times(20, () => limit.count('a', 30))))).flat();
  expect(counted.filter((waitMs) => waitMs === undefined)).toHaveLength(30);
});

test('tells how long the window lasts, which begins with its first count', async () => {
  const limit = limitOf('window');
  expect(await limit.count('a', 0)).toSatisfy((waitMs: number) => waitMs > 50_000 && waitMs <= 60_000);
  await endWindow('window:a');
  expect(await limit.count('a', 1)).toBeUndefined();
  expect(await limit.count('a', 1)).toBeGreaterThan(50_000);
});

test('takes back what did not happen, and nothing of a window that has ended', async () => {
  const limit = limitOf('back');
  await limit.add('a', 2);
  await limit.takeBack('a');
  expect(await limit.add('a')).toMatchObject({ points: 2 });
  await limit.takeBack('never');
  expect(await limit.add('never')).toMatchObject({ points: 1 });
  await endWindow('back:a');
  await limit.takeBack('a');
  expect(await limit.add('a')).toMatchObject({ points: 1 });
});

test('limits of different names count by themselves', async () => {
  expect(await limitOf('one').count('a', 1)).toBeUndefined();
  expect(await limitOf('two').count('a', 1)).toBeUndefined();
});

test('a key that another transaction has locked delays only its own counts', async () => {
  const limit = limitOf('locked');
  await limit.count('a', 9);
  const holder = await openHolder(database.pool);
  await holder.query(`select from rate_limits where key = 'locked:a' for update`);
  const counted: string[] = [];
  const count = (key: string) => limit.count(key, 9).then(() => counted.push(key));
  const others = [count('b'), count('c'), count('d'), count('e')];
  const own = count('a');
  const begun = performance.now();
  await Promise.all([...others, count('f')]);
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect(counted.toSorted()).toEqual(['b', 'c', 'd', 'e', 'f']);
  await holder.release();
  await own;
});

test('a key that stays locked holds one connection, and its counts fail after a second', async () => {
  const [limit, other] = [limitOf('stays'), limitOf('other')];
  await limit.count('a', 9);
  const holder = await openHolder(database.pool);
  await holder.query(`select from rate_limits where key = 'stays:a' for update`);
  const begun = performance.now();
  const counts = await Promise.allSettled(
    [
      ...Array.from({ length: 40 }, () => limit.count('a', 9)),
      ...Array.from({ length: 5 }, (_, at) => limit.count(`b${at}`, 9)),
    ].map(async (count) => {
      await count;
      return performance.now() - begun;
    }),
  );
  expect(counts.slice(0, 40)).toEqual(
    Array(40).fill({ status: 'rejected', reason: expect.objectContaining({ code: '55P03' }) }),
  );
  expect(performance.now() - begun).toBeLessThan(5_000);
  for (const each of counts.slice(40)) expect(each).toMatchObject({ status: 'fulfilled' });

  const again = Array.from({ length: 40 }, () => limit.count('a', 9).catch(() => undefined));
  const waiting = async () => {
    const { rows } = await database.pool.query<{ count: number }>(
      `select count(*)::integer as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]!.count;
  };
  const most: number[] = [];
  for (let look = 0; look < 100; look += 1) {
    most.push(await waiting());
    await other.count('c', 1_000);
  }
  expect(Math.max(...most)).toBe(1);
  await holder.release();
  await Promise.all(again);
});

test('only windows that have ended are deleted', async () => {
  const limit = limitOf('old');
  await limit.count('ended', 1);
  await limit.count('open', 1);
  await endWindow('old:ended');
  expect(await deleteEndedWindows(database.pool, 1)).toBe(1);
  const { rows } = await database.pool.query(`select key from rate_limits where key like 'old:%'`);
  expect(rows).toStrictEqual([{ key: 'old:open' }]);
});
