import pino from 'pino';
import { expect, test } from 'vitest';
import { listVerifications, startVerification } from '../../../src/money/verification/run-verification.ts';
import { useDatabase } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
const deps = () => ({ db: database.pool, log: pino({ level: 'silent' }) });

test('a verification that is stopped says so, and makes room for another one', async () => {
  const stopped = await startVerification(deps(), OPERATOR, AbortSignal.abort());
  await stopped!.ended;
  const [first] = await listVerifications(database.pool, 1);
  expect(first).toMatchObject({ error: 'its process was stopped', differences: null });
  expect(first!.finishedAt).toBeInstanceOf(Date);

  const next = await startVerification(deps(), OPERATOR, new AbortController().signal);
  await next!.ended;
  expect((await listVerifications(database.pool, 1))[0]).toMatchObject({ error: null, differences: 0 });
});

test('of several that start at once, one runs, and stands in the audit trail', async () => {
  const never = new AbortController().signal;
  const before = (await listVerifications(database.pool, 100)).length;
  await database.pool.query(
    `insert into verifications (id, operator) values ('vf_${'e'.repeat(32)}', 'ann')`,
  );
  expect(await startVerification(deps(), OPERATOR, never)).toBeUndefined();
  await database.pool.query(`delete from verifications where operator = 'ann'`);
  const started = await Promise.all(
    Array.from({ length: 5 }, () => startVerification(deps(), OPERATOR, never)),
  );
  const ours = started.filter((each) => each !== undefined);
  expect(ours.length).toBeGreaterThan(0);
  await Promise.all(ours.map(({ ended }) => ended));
  expect((await listVerifications(database.pool, 100)).length).toBe(before + ours.length);
  const { rows } = await database.pool.query(
    `select count(*)::int as count from audit_entries where action = 'verification_started'`,
  );
  expect(rows[0].count).toBe(before + ours.length);
});
