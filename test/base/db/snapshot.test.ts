import { expect, inject, test } from 'vitest';
import { withSnapshot } from '../../../src/base/db/snapshot.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

test('work sees one state of the database, whatever changes meanwhile', async () => {
  const count = 'select count(*) as count from operator_links';
  const seen = await withSnapshot(database.pool, async (snapshot) => {
    const before = await snapshot.query(count);
    await database.pool.query(
      `insert into operator_links (hash, operator, expires_at) values (sha256('a'), 'ann', now())`,
    );
    return [before, await snapshot.query(count)].map(({ rows }) => rows[0].count);
  });
  expect(seen).toEqual([0n, 0n]);
  expect((await database.pool.query(count)).rows[0].count).toBe(1n);
});

test('work changes nothing', async () => {
  const work = withSnapshot(database.pool, (snapshot) => snapshot.query('delete from operator_links'));
  await expect(work).rejects.toMatchObject({ code: '25006' });
});

test('work ends when it is told to stop, in the middle of a statement', async () => {
  const stop = new AbortController();
  const work = withSnapshot(
    database.pool,
    async (snapshot) => {
      const sleeping = snapshot.query('select pg_sleep(600)');
      setImmediate(() => stop.abort());
      await sleeping;
    },
    { stopping: stop.signal },
  );
  await expect(work).rejects.toThrow(/terminated/);
  await expect(
    withSnapshot(database.pool, async () => undefined, { stopping: stop.signal }),
  ).rejects.toThrow();
});

// A cluster would lose what the test says that it moved.
if (inject('stepForms')) {
  test('work fails if rows were moved to another server meanwhile', async () => {
    const work = withSnapshot(database.pool, async () => {
      await database.pool.query('update pg_dist_placement set groupid = groupid + 1');
      return 'done';
    });
    await expect(work).rejects.toMatchObject({
      kind: 'overloaded',
      message: expect.stringContaining('moved'),
    });
    expect(await withSnapshot(database.pool, async () => 'done')).toBe('done');
  });
}
