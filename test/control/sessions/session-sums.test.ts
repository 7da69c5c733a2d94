/** Sums of any period, put together from days and months, are those of the days in it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { addToSums, eraseInSums, readSessionSums } from '../../../src/control/sessions/session-sums.sql.ts';
import {
  type DaySum,
  SESSION_SPANS,
  type SessionSumsQuery,
  type SessionSumsRow,
} from '../../../src/control/sessions/session-sums.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const DAY_MS = 86_400_000;

const dayOf = (back: number) => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - back * DAY_MS);
/** The days of four months, and the end of a month that goes on. */
const back = fc.integer({ min: -3, max: 120 });
const sums = fc.array(
  fc.record({
    back: fc.nat(120),
    name: fc.constantFrom('ann', 'bob', 'cem', ''),
    amount: fc.bigInt(0n, 10n ** 17n),
  }),
  { maxLength: 30 },
);
const period = fc
  .tuple(back, back)
  .filter(([one, other]) => one !== other)
  .map((ends) => ({ from: dayOf(Math.max(...ends)), to: dayOf(Math.min(...ends)) }));

function sumOf(by: DaySum['by'], day: Date, name: string, amount: bigint): DaySum {
  const others = { seconds: 60n, egressBytes: amount * 7n, ingressBytes: 1n, unbilled: 3n };
  return { by, day: day.toISOString().slice(0, 10), name, records: 1n, amount, ...others };
}

/** What the query asks for, from the sums of days. */
function model(all: readonly DaySum[], { by, every, from, to, names }: SessionSumsQuery): SessionSumsRow[] {
  const groups = new Map<string, SessionSumsRow>();
  for (const { by: of, day, name, ...measures } of all) {
    const at = new Date(`${day}T00:00:00Z`);
    if (of !== by || at < from || at >= to || (names && !names.includes(name))) continue;
    const time = every && new Date(every === 'day' ? at : `${day.slice(0, 7)}-01T00:00:00Z`);
    const key = `${time?.toISOString()} ${name}`;
    const before = groups.get(key);
    const added = Object.entries(measures).map(([each, value]) => [
      each,
      value + (before?.[each as keyof typeof measures] ?? 0n),
    ]);
    groups.set(key, { ...(time && { time }), name, ...Object.fromEntries(added) } as SessionSumsRow);
  }
  const compare = (one: SessionSumsRow, other: SessionSumsRow) =>
    Number(one.time) - Number(other.time) ||
    (one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1) ||
    Number(other.unbilled - one.unbilled) ||
    (one.name < other.name ? -1 : 1);
  return [...groups.values()].sort((one, other) =>
    every ? compare(one, other) : compare({ ...one, time: dayOf(0) }, { ...other, time: dayOf(0) }),
  );
}

test('of any period, by day, by month and in all', async () => {
  const tenant = await makeTenant(database.pool);
  await makeTenant(database.pool);
  const all: DaySum[] = [];
  await fc.assert(
    fc.asyncProperty(sums, period, fc.option(fc.constant(['bob', ''])), async (added, ends, chosen) => {
      const news = added.flatMap(({ back: days, name, amount }) => [
        sumOf('participant', dayOf(days), name, amount),
        sumOf('key', dayOf(days), '0123456789abcdef', amount),
      ]);
      await inTransaction(database.pool, (tx) => runTogether(tx, addToSums(tenant, mergeDays(news))));
      all.push(...news);
      for (const every of [undefined, ...SESSION_SPANS]) {
        const names = chosen ?? undefined;
        const query = { by: 'participant', every, ...ends, names, limit: 1_000, skip: 0 } as const;
        const { rows, assigned } = await readSessionSums(database.pool, tenant, query);
        expect(rows).toEqual(model(all, query));
        const [whole] = model(all, { ...query, by: 'key', every: undefined, names: undefined });
        expect(assigned.amount).toBe(whole?.amount ?? 0n);
        const second = await readSessionSums(database.pool, tenant, { ...query, limit: 1, skip: 1 });
        expect(second.rows).toEqual(rows.slice(1, 2));
        expect(second.assigned).toEqual(assigned);
      }
    }),
    { numRuns: 60, endOnFailure: true },
  );
  await inTransaction(database.pool, (tx) => eraseInSums(tx, tenant, ['ann', 'bob', 'dan']));
  const erased = all.map((each) =>
    ['ann', 'bob'].includes(each.name) ? { ...each, name: '(erased)' } : each,
  );
  for (const every of [undefined, ...SESSION_SPANS]) {
    const ends = { from: dayOf(130), to: dayOf(-1), names: undefined, limit: 1_000, skip: 0 };
    const query = { by: 'participant', every, ...ends } as const;
    expect((await readSessionSums(database.pool, tenant, query)).rows).toEqual(model(erased, query));
  }
});

/** A turn has each group of a day once. */
function mergeDays(news: readonly DaySum[]): DaySum[] {
  const merged = new Map<string, DaySum>();
  for (const { by, day, name, ...measures } of news) {
    const before = merged.get(`${by} ${day} ${name}`);
    const added = Object.entries(measures).map(([each, value]) => [
      each,
      value + (before?.[each as keyof typeof measures] ?? 0n),
    ]);
    merged.set(`${by} ${day} ${name}`, { by, day, name, ...Object.fromEntries(added) } as DaySum);
  }
  return [...merged.values()];
}
