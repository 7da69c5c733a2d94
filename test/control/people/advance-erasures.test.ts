import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { advanceErasure, advanceErasures } from '../../../src/control/people/advance-erasures.ts';
import { getErasure } from '../../../src/control/people/get-erasure.ts';
import { requestErasure } from '../../../src/control/people/request-erasure.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { READ_IN_ORDER } from '../../../src/money/records/erase-in-records.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf } from '../../support/events.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { testOneServer } from '../../support/step-forms.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { depsOn } from '../watchdogs/support.ts';
import { eraseAll, insertUsage, participantsOf } from './support.ts';

const database = useDatabase({ makesUpEvents: true });
const db = () => database.pool;
const deps = () => depsOn(db());

/** Steps with nothing to do, before and after the records. */
const OTHER_PARTS = 6;

let tenant: TenantId;

beforeEach(async () => {
  tenant = await makeTenant(db());
});

const request = (name: string, of = tenant) =>
  inTransaction(db(), (tx) => requestErasure(tx, OPERATOR, of, name));
const entered = (username: string) => ({ type: 'participant_entered', roomUid: null, subject: { username } });
const advanceOnce = (id: string) => advanceErasure(db(), { tenant, id });

describe('an erasure', () => {
  test('works through all records, part by part, and leaves those of others', async () => {
    await insertUsage(db(), tenant, { participants: ['ann', 'bob', 'anna'], count: 9_000 });
    const other = await makeTenant(db());
    await insertUsage(db(), other, { participants: ['ann'], count: 10 });
    const { id } = await request('ann');
    // Four whole parts of 2,000, and the rest.
    expect(await eraseAll(deps())).toBe(OTHER_PARTS + 5);
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 3_000, anna: 3_000, bob: 3_000 });
    expect(await participantsOf(db(), other)).toEqual({ ann: 10 });
    expect(await getErasure(db(), tenant, id)).toMatchObject({ state: 'done', records: 3_000n, others: 0n });
  });

  test('ends where the last part was full', async () => {
    await insertUsage(db(), tenant, { participants: ['ann'], count: 2_000 });
    await request('ann');
    expect(await eraseAll(deps())).toBe(OTHER_PARTS + 2);
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 2_000 });
  });

  test('finds the name as it was given, and as a username', async () => {
    await insertUsage(db(), tenant, { participants: ['Ann', 'ann', 'ANN'], count: 30 });
    await request('Ann');
    await eraseAll(deps());
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 20, ANN: 10 });
  });

  test('is done once by many processes at a time', async () => {
    await insertUsage(db(), tenant, { participants: ['ann', 'bob'], count: 12_000 });
    const { id } = await request('ann');
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (;;) {
          await advanceErasures(deps(), () => {});
          if ((await getErasure(db(), tenant, id)).state === 'done') break;
        }
      }),
    );
    expect(await getErasure(db(), tenant, id)).toMatchObject({ records: 6_000n });
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 6_000, bob: 6_000 });
  });

  test('that is locked is left to the process that has it, and others go on', async () => {
    const other = await makeTenant(db());
    const { id } = await request('ann');
    const waiting = await request('ann', other);
    const holder = await openHolder(db());
    await holder.query('select from erasures where tenant_id = $1 for update', [tenant]);
    expect(await advanceOnce(id)).toBe(false);
    await eraseAll(deps());
    expect(await getErasure(db(), other, waiting.id)).toMatchObject({ state: 'done' });
    expect(await getErasure(db(), tenant, id)).toMatchObject({ state: 'pending' });
    await holder.release();
    await eraseAll(deps());
    expect(await getErasure(db(), tenant, id)).toMatchObject({ state: 'done' });
  });

  test('goes together with those of the tenant that have come as far', async () => {
    await insertUsage(db(), tenant, { participants: ['ann', 'bob', 'cem', 'dan'], count: 8_000 });
    const names = ['ann', 'bob', 'cem'];
    const asked = [];
    for (const name of names) asked.push(await request(name));
    // As many parts as for one of them.
    expect(await eraseAll(deps())).toBe(OTHER_PARTS + 5);
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 6_000, dan: 2_000 });
    for (const { id } of asked) expect(await getErasure(db(), tenant, id)).toMatchObject({ records: 2_000n });
  });

  test('does not go together with one that is ahead', async () => {
    await insertUsage(db(), tenant, { participants: ['ann', 'bob'], count: 5_000 });
    const ahead = await request('ann');
    for (let part = 0; part < OTHER_PARTS; part += 1) await advanceOnce(ahead.id);
    await request('bob');
    await eraseAll(deps());
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 5_000 });
  });

  test('that fails is logged without the name and put off, and others go on', async () => {
    await insertUsage(db(), tenant, { participants: ['ann-who-fails'], count: 1 });
    const { id } = await request('ann-who-fails');
    const other = await makeTenant(db());
    const waiting = await request('bob', other);
    await db().query(
      `alter table usage_records add constraint fail check (participant <> '(erased)') not valid`,
    );
    const logged: object[] = [];
    const log = { error: (fields: object) => logged.push(fields) } as never;
    await eraseAll({ db: db(), log });
    await db().query('alter table usage_records drop constraint fail');
    expect(logged).toEqual([expect.objectContaining({ erasures: [id], step: 'usage_records' })]);
    expect(JSON.stringify(logged)).not.toContain('ann-who-fails');
    expect(await getErasure(db(), other, waiting.id)).toMatchObject({ state: 'done' });
    expect(await getErasure(db(), tenant, id)).toMatchObject({ state: 'pending' });

    await db().query('update erasures set next_at = now() where id = $1', [id]);
    await eraseAll(deps());
    expect(await participantsOf(db(), tenant)).toEqual({ '(erased)': 1 });
  });
});

describe('events', () => {
  test('of any number are rewritten, and keep number, time and type', async () => {
    const subjects = Array.from({ length: 1_200 }, (_, n) => entered(n % 3 === 0 ? 'ann' : 'bob'));
    await appendEvents(db(), tenant, subjects);
    await numberEvents(db(), [tenant]);
    const rows = async () =>
      (await db().query('select seq, at, type from events where tenant_id = $1 order by seq', [tenant])).rows;
    const before = await rows();
    const { id } = await request('ann');
    await eraseAll(deps());
    expect(await rows()).toEqual(before);
    const names = (await eventsOf(db(), tenant)).map(({ subject }) => subject.username);
    expect(names).toEqual(subjects.map(({ subject }) => (subject.username === 'ann' ? '(erased)' : 'bob')));
    expect(await getErasure(db(), tenant, id)).toMatchObject({ others: 400n });
  });

  test('without a number are rewritten, and get their numbers afterwards', async () => {
    await appendEvents(db(), tenant, [entered('ann'), entered('bob')]);
    const { id } = await request('ann');
    await eraseAll(deps());
    const { rows } = await db().query(
      `select subject ->> 'username' as name from unnumbered_events where tenant_id = $1 order by id`,
      [tenant],
    );
    expect(rows).toEqual([{ name: '(erased)' }, { name: 'bob' }]);
    expect((await eventsOf(db(), tenant)).map(({ subject }) => subject.username)).toEqual([
      '(erased)',
      'bob',
    ]);
    expect(await getErasure(db(), tenant, id)).toMatchObject({ others: 1n });
  });

  test('that get their numbers meanwhile are found', async () => {
    await appendEvents(db(), tenant, [entered('bob')]);
    await numberEvents(db(), [tenant]);
    await appendEvents(db(), tenant, [entered('ann')]);
    const { id } = await request('ann');
    // Bans and the records of moderation come first.
    expect([await advanceOnce(id), await advanceOnce(id)]).toEqual([true, true]);
    const holder = await openHolder(db());
    await holder.query('select from event_streams where tenant_id = $1 for update', [tenant]);
    const advancing = advanceOnce(id);
    await expect.poll(() => countLockWaiters(db())).toBe(1);
    // As the numbering of events does.
    for (const statement of [
      'insert into events (tenant_id, seq, type, subject) select tenant_id, 2, type, subject from unnumbered_events where tenant_id = $1',
      'delete from unnumbered_events where tenant_id = $1',
      'update event_streams set last_seq = 2 where tenant_id = $1',
    ]) {
      await holder.query(statement, [tenant]);
    }
    await holder.query('commit');
    await advancing;
    await eraseAll(deps());
    expect((await eventsOf(db(), tenant)).map(({ subject }) => subject.username)).toEqual([
      'bob',
      '(erased)',
    ]);
  });
});

// Where tables are distributed, each part is planned anew.
testOneServer(
  'the plan of a part reads the records in the order of their key, whatever the table was when it was made',
  async () => {
    const connection = await db().connect();
    try {
      await connection.query('begin');
      await connection.query(READ_IN_ORDER.text);
      await connection.query(`prepare part (bigint, text) as
      select id, participant from usage_records where tenant_id = $1 and id > $2 order by id limit 2000`);
      const { rows } = await connection.query(`explain execute part (7, 'a')`);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/Index Scan using usage_records_pkey/);
      expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
    } finally {
      await connection.query('rollback');
      connection.release();
    }
  },
);
