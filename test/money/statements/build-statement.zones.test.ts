/** Statements of tenants that change their time zone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import type { TimeZone } from '../../../src/money/calendar/time-zone.ts';
import { findCalendar, insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import { type Month, startOf } from '../../../src/money/month.ts';
import { buildStatement } from '../../../src/money/statements/build-statement.ts';
import { listStatements } from '../../../src/money/statements/list-statements.ts';
import { readStatement } from '../../../src/money/statements/read-statement.ts';
import type { Statement } from '../../../src/money/statements/statement.ts';
import { digestOf, textOf } from '../../../src/money/statements/statement-document.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { summarizeUsage } from '../../../src/money/usage/summarize-usage.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Oldest first. */
const MONTHS = [9, 8, 7, 6, 5, 4, 3, 2].map(monthsAgo);
const HOUR_MS = 3_600_000;

const setZone = (tenant: TenantId, zone: TimeZone, month: Month) =>
  inTransaction(db(), (tx) => insertTimeZone(tx, tenant, zone, month));
const buildAll = (tenant: TenantId) =>
  Promise.all(MONTHS.map((month) => buildStatement(app.service.deps, tenant, month)));

const zones = Intl.supportedValuesOf('timeZone') as TimeZone[];
const zone = fc.oneof(
  fc.constantFrom(...zones),
  fc.constantFrom(
    ...(['Asia/Kathmandu', 'Pacific/Chatham', 'Etc/GMT+12', 'Pacific/Kiritimati', 'UTC'] as TimeZone[]),
  ),
);
const changes = fc
  .array(fc.tuple(fc.integer({ min: 1, max: MONTHS.length - 1 }), zone), { maxLength: 4 })
  .map((made) => made.sort(([one], [other]) => one - other));
/** Within 16 hours of the start of a month in UTC, and often at a quarter-hour or just before. */
const moment = fc
  .tuple(
    fc.integer({ min: 1, max: MONTHS.length - 2 }),
    fc.integer({ min: -64, max: 64 }),
    fc.constantFrom(-1, 0, 0, 421_000),
  )
  .map(
    ([month, quarters, ms]) => new Date(startOf(MONTHS[month]!).getTime() + quarters * (HOUR_MS / 4) + ms),
  );

async function sumPostings(tenant: TenantId, { from, to }: Pick<Statement, 'from' | 'to'>) {
  const { rows } = await db().query<{ moved: bigint; used: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as moved, coalesce(-sum(amount) filter (where kind = 'usage'), 0)::bigint as used
       from postings where tenant_id = $1 and at >= $2 and at < $3`,
    [tenant, from, to],
  );
  return rows[0]!;
}

test('months tile the ledger in any zones, and no change alters a statement of before', async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.array(moment, { minLength: 1, maxLength: 10 }), async (made, moments) => {
      const of = await app.signUp();
      const tenant = idOf(of);
      for (let count = 1; count <= moments.length; count += 1) {
        if (count % 3 === 0)
          await post(db(), tenant, { kind: 'adjustment', amount: BigInt(count), detail: 'why' });
        else await report(app, of, manyRecords(count));
      }
      await moveInTime(db(), tenant, moments.map((each) => each.toISOString()).sort());

      let statements = await buildAll(tenant);
      for (const [at, to] of made) {
        await setZone(tenant, to, MONTHS[at]!);
        await foldUsage({ db: db() });
        const after = await buildAll(tenant);
        expect(after.slice(0, at).map(digestOf)).toEqual(statements.slice(0, at).map(digestOf));
        statements = after;
      }
      for (const [at, statement] of statements.entries()) {
        const { opening, closing, usage, from } = statement;
        const { moved, used } = await sumPostings(tenant, statement);
        expect([closing - opening, usage.sum.amount]).toEqual([moved, used]);
        expect(readStatement(textOf(statement))).toEqual(statement);
        if (at === 0) continue;
        const before = statements[at - 1]!;
        expect([from, opening]).toEqual([before.to, before.closing]);
      }
      const calendar = await findCalendar(db(), tenant);
      const moving = new Set(moments.map((each) => calendar.monthOf(each)));
      expect((await listStatements(db(), tenant)).map(({ month }) => month)).toEqual(
        MONTHS.filter((month) => moving.has(month)).reverse(),
      );
      await expectDays(tenant, statements);
    }),
    { numRuns: 30 },
  );
});

/** The days of each month add up to its statement. */
async function expectDays(tenant: TenantId, statements: readonly Statement[]) {
  const groupBy = ['day'] as const;
  for (const { from, to, usage } of statements) {
    const { rows, total } = await summarizeUsage(db(), tenant, {
      groupBy,
      from,
      to,
      rooms: undefined,
      limit: 100,
      skip: 0,
    });
    expect(total).toEqual(usage.sum);
    expect(rows.every(({ time }) => from <= time! && time! < to)).toBe(true);
  }
}
