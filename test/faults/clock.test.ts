/** The clock of a campaign's PostgreSQL. */
import { expect, onTestFinished, test } from 'vitest';
import { openClock } from '../../faults/stage/clock.ts';
import { Database } from '../../faults/stage/database.ts';

const PROGRAM = { home: '/nowhere', account: undefined };

test('without libfaketime, it stays right, and says why', async () => {
  const clock = openClock(PROGRAM, ['/nowhere/libfaketime.so.1']);
  expect(clock).toMatchObject({ program: PROGRAM, limits: 'there is no libfaketime' });
  await clock.shift(5);
  await clock.remove();
});

test('a server notes within two seconds that its clock goes wrong, and that it is right again', async (context) => {
  const database = await Database.open();
  const db = database.openPool(1);
  onTestFinished(async () => {
    await db.end();
    await database.close();
  });
  const { clock } = database;
  if (clock.limits !== undefined) return context.skip();
  const findShift = async () => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
    return Math.round((rows[0]!.now.getTime() - Date.now()) / 1_000) || 0;
  };
  expect(await findShift()).toBe(0);
  await clock.shift(-7);
  expect(await findShift()).toBe(-7);
  await clock.shift(0);
  expect(await findShift()).toBe(0);
});
