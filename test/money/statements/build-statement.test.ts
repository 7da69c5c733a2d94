import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { renderStatementCsv } from '../../../src/doors/http/statement-csv.ts';
import { renderStatementPage } from '../../../src/doors/http/statement-page.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { endOf, type Month, startOf } from '../../../src/money/month.ts';
import { buildStatement, StatementFaultError } from '../../../src/money/statements/build-statement.ts';
import { findFault } from '../../../src/money/statements/check-statement.ts';
import { listStatements } from '../../../src/money/statements/list-statements.ts';
import { readStatement } from '../../../src/money/statements/read-statement.ts';
import { MOVEMENTS_MAX, ROOMS_MAX, type Statement } from '../../../src/money/statements/statement.ts';
import { digestOf, textOf } from '../../../src/money/statements/statement-document.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { type TestService, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

/** The figures of the ledger itself, in SQL and without the sums of usage. */
async function sumByHand(app: TestService, tenant: TenantId, month: Month) {
  const { db } = app.service.deps;
  const period = [tenant, startOf(month), endOf(month)];
  const { rows: sums } = await db.query(
    `select coalesce(sum(amount) filter (where at < $2), 0)::text as opening,
            coalesce(sum(amount) filter (where at >= $2 and kind in ('top_up', 'auto_top_up')), 0)::text as payments,
            coalesce(sum(amount) filter (where at >= $2 and kind in ('refund', 'dispute')), 0)::text as reversals,
            coalesce(sum(amount) filter (where at >= $2 and kind = 'adjustment'), 0)::text as adjustments,
            coalesce(-sum(amount) filter (where at >= $2 and kind = 'usage'), 0)::text as usage,
            coalesce(sum(amount), 0)::text as closing
       from postings where tenant_id = $1 and at < $3`,
    period,
  );
  const { rows: rooms } = await db.query(
    `select coalesce(r.room, '') as room, count(*)::text as records, sum(r.seconds)::text as seconds,
            sum(r.egress_bytes)::text as "egressBytes", sum(r.ingress_bytes)::text as "ingressBytes",
            coalesce(sum(r.amount) filter (where p.kind = 'usage'), 0)::text as amount,
            coalesce(sum(r.amount) filter (where p.kind = 'unbilled'), 0)::text as unbilled
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where r.tenant_id = $1 and p.at >= $2 and p.at < $3 group by 1 order by 1`,
    period,
  );
  return { ...sums[0], rooms };
}

function summed({ opening, payments, reversals, adjustments, usage, closing }: Statement) {
  return {
    opening: `${opening}`,
    payments: `${payments.sum}`,
    reversals: `${reversals.sum}`,
    adjustments: `${adjustments.sum}`,
    usage: `${usage.sum.amount}`,
    closing: `${closing}`,
    rooms: usage.rooms
      .map(({ room, ...measures }) => ({
        room,
        ...Object.fromEntries(Object.entries(measures).map(([name, value]) => [name, `${value}`])),
      }))
      .sort((one, other) => (one.room < other.room ? -1 : 1)),
  };
}

const build = (app: TestService, tenant: TenantId, month: Month) =>
  buildStatement(app.service.deps, tenant, month);

async function charge(app: TestService, tenant: TestTenant, records: object[]): Promise<void> {
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
}

/** Oldest first. The last one has no postings: nothing happens in it. */
const MONTHS = [5, 4, 3, 2].map(monthsAgo);

type Step =
  | { readonly kind: 'charge'; readonly records: readonly object[] }
  | { readonly kind: 'exempt'; readonly isOn: boolean }
  | {
      readonly kind: 'top_up' | 'auto_top_up' | 'refund' | 'dispute' | 'adjustment';
      readonly amount: bigint;
    };

const usage = fc.record({
  room: fc.constantFrom(undefined, 'lobby', 'stage', '=1+1', 'Küche "2"'),
  role: fc.constantFrom('host', 'audience', 'broadcast_audience'),
  tier: fc.constantFrom('audio', 'hd', '2k_plus'),
  seconds: fc.integer({ min: 0, max: 86_400 }),
  egress_bytes: fc.oneof(fc.nat(200_000), fc.nat(2 ** 40)),
  ingress_bytes: fc.nat(2 ** 40),
});
const cents = fc.bigInt(1n, 100_000_000n);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      records: fc.array(usage, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('exempt' as const), isOn: fc.boolean() }) },
  fc.record({ kind: fc.constantFrom('top_up' as const, 'auto_top_up' as const), amount: cents }),
  fc.record({
    kind: fc.constantFrom('refund' as const, 'dispute' as const, 'adjustment' as const),
    amount: fc.tuple(cents, fc.boolean()).map(([amount, isBack]) => (isBack ? amount : -amount)),
  }),
);
/** When a posting happens: its month, and how far into it. Both ends of a month are likelier than other times. */
const moment = fc.tuple(
  fc.nat(2),
  fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
);

function timeOf([month, share]: readonly [number, number]): string {
  const [start, end] = [startOf(MONTHS[month]!), endOf(MONTHS[month]!)];
  // The last microsecond of the month.
  if (share === 1) return new Date(end.getTime() - 1).toISOString().replace('999Z', '999999Z');
  return new Date(start.getTime() + Math.floor(share * (end.getTime() - start.getTime() - 1))).toISOString();
}

describe.each(['carry', 'per_record'] as const)('rounded by %s', (billingRounding) => {
  const app = useService({ billingRounding });

  /** Returns how many postings there are. */
  async function play(tenant: TestTenant, steps: readonly Step[]): Promise<number> {
    const { db } = app.service.deps;
    const id = idOf(tenant);
    let postings = 0;
    for (const [at, each] of steps.entries()) {
      if (each.kind === 'exempt') {
        await setExempt(db, OPERATOR, id, each.isOn);
        continue;
      }
      postings += 1;
      if (each.kind === 'charge')
        await charge(
          app,
          tenant,
          each.records.map((one) => usageRecord({ ...one })),
        );
      else if (each.kind === 'adjustment') await post(db, id, { ...each, detail: `reason ${at}` });
      else await post(db, id, { ...each, paymentId: `pi_${id}_${at}`, reference: `re_${at}` });
    }
    return postings;
  }

  test('every statement is the sum of its month, and they follow one another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.array(moment, { minLength: 14, maxLength: 14 }),
        async (steps, moments) => {
          const tenant = await app.signUp();
          const id = idOf(tenant);
          const count = await play(tenant, steps);
          const times = moments.slice(0, count).map(timeOf).sort();
          await moveInTime(app.service.deps.db, id, times);

          const before = await Promise.all(MONTHS.map((month) => build(app, id, month)));
          for (const [at, statement] of before.entries()) {
            expect(summed(statement)).toEqual(await sumByHand(app, id, MONTHS[at]!));
            expect(findFault(statement)).toBeUndefined();
            expect(statement.opening).toBe(before[at - 1]?.closing ?? 0n);
            expect(readStatement(textOf(statement))).toEqual(statement);
          }
          await foldUsage(app.service.deps);
          const after = await Promise.all(MONTHS.map((month) => build(app, id, month)));
          expect(after.map(digestOf)).toEqual(before.map(digestOf));

          const withPostings = before
            .filter(({ month }) => times.some((time) => time.startsWith(month)))
            .map(({ month, opening, closing }) => ({ month, opening, closing }));
          expect(await listStatements(app.service.deps.db, id)).toEqual(withPostings.toReversed());
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a statement', () => {
  const app = useService();
  // It is over, and so is the month after it, however early in a month the test runs.
  const month = monthsAgo(3);
  const [from, to] = [startOf(month).getTime(), endOf(month).getTime()];
  const timesFrom = (start: number, count: number) =>
    Array.from({ length: count }, (_, at) => new Date(start + at).toISOString());

  test('lists payments, reversals and adjustments with what they are about', async () => {
    const tenant = idOf(await app.signUp());
    const { db } = app.service.deps;
    await post(db, tenant, { kind: 'top_up', amount: 20_000_000n, reference: 'pi_1', paymentId: 'pi_1' });
    await post(db, tenant, { kind: 'refund', amount: -5_000_000n, reference: 're_1', paymentId: 'pi_1' });
    await post(db, tenant, { kind: 'adjustment', amount: 7n, detail: 'goodwill' });
    await post(db, tenant, { kind: 'adjustment', amount: 8n, detail: 'more', reference: 'mine' });
    await moveInTime(db, tenant, timesFrom(from, 4));
    const at = (ms: number) => new Date(from + ms);
    const none = { reference: undefined, detail: undefined, payment: undefined };
    expect(await build(app, tenant, month)).toMatchObject({
      tenant: { id: tenant, name: 'Ada Video' },
      month,
      opening: 0n,
      payments: {
        entries: [{ ...none, at: at(0), kind: 'top_up', amount: 20_000_000n, reference: 'pi_1' }],
        others: undefined,
        sum: 20_000_000n,
      },
      reversals: {
        entries: [
          { ...none, at: at(1), kind: 'refund', amount: -5_000_000n, reference: 're_1', payment: 'pi_1' },
        ],
        sum: -5_000_000n,
      },
      adjustments: {
        entries: [
          { ...none, at: at(2), kind: 'adjustment', amount: 7n, detail: 'goodwill' },
          { ...none, at: at(3), kind: 'adjustment', amount: 8n, detail: 'more', reference: 'mine' },
        ],
        sum: 15n,
      },
      usage: { rooms: [], others: undefined, sum: { records: 0n, amount: 0n } },
      closing: 15_000_015n,
    });
  });

  test('says what was granted at both ends, and what was spent of it', async () => {
    const tenant = await app.signUp();
    const id = idOf(tenant);
    const { db } = app.service.deps;
    const given = { amount: 100_000n, reason: 'a trial', expiresAt: new Date('2100-01-01'), key: undefined };
    const { grant } = await grantCredit(db, OPERATOR, id, given);
    // It costs 12,000 micros.
    const record = () => usageRecord({ tier: '2k_plus', seconds: 60, egress_bytes: 2 ** 52 });
    for (let count = 0; count < 2; count += 1) await charge(app, tenant, [record()]);
    const times = [new Date(from).toISOString(), ...timesFrom(to - 1, 2)];
    await moveInTime(db, id, times);
    const ends = [id, new Date(from), new Date(to + 5)];
    await db.query(
      'update grants set granted_at = $2, expires_at = $3, due_at = $3 where tenant_id = $1',
      ends,
    );
    const first = await build(app, id, month);
    expect(first).toMatchObject({
      grants: { sum: 100_000n, entries: [{ kind: 'grant', reference: grant.id, detail: 'a trial' }] },
      granted: { opening: 0n, closing: 88_000n },
      closing: 88_000n,
    });
    expect(JSON.parse(textOf(first)).grants).toMatchObject({ spent: { micros: 12_000 } });
    expect(renderStatementCsv(first)).toContain(`grant,${times[0]},grant,${grant.id},`);
    expect(renderStatementPage(first)).toContain('$0.012000 of granted credit was spent.');

    await endGrants(app.service.deps);
    expect(await build(app, id, month)).toEqual(first);
    await moveInTime(db, id, [...times, new Date(to + 6).toISOString()]);
    const second = await build(app, id, monthsAgo(2));
    expect(second).toMatchObject({
      grants: { sum: -76_000n, entries: [{ kind: 'grant_expired', reference: grant.id }] },
      granted: { opening: 88_000n, closing: 0n },
      closing: 0n,
    });
    for (const statement of [first, second]) expect(readStatement(textOf(statement))).toEqual(statement);
    const fault = 'more granted credit is left than there was';
    expect(findFault({ ...first, granted: { opening: 0n, closing: 100_001n } })).toBe(fault);
  });

  test('belongs to the month at its first instant, and to the next one at its end', async () => {
    const tenant = idOf(await app.signUp());
    const { db } = app.service.deps;
    for (const amount of [1n, 10n, 100n, 1000n]) await post(db, tenant, { kind: 'adjustment', amount });
    const times = [from - 1, from, to - 1, to].map((time) => new Date(time).toISOString());
    await moveInTime(db, tenant, times);
    expect(await build(app, tenant, month)).toMatchObject({
      opening: 1n,
      adjustments: { sum: 110n },
      closing: 111n,
    });
  });

  test('adds up the entries and rooms that it does not list', async () => {
    const signedUp = await app.signUp();
    const tenant = idOf(signedUp);
    const { db } = app.service.deps;
    const rooms = ROOMS_MAX + 2;
    const records = Array.from({ length: rooms }, (_, at) =>
      usageRecord({
        room: `room ${at}`,
        seconds: 86_400,
        egress_bytes: (at + 1) * 2 ** 20,
        ingress_bytes: 1,
      }),
    );
    await charge(app, signedUp, records);
    const more = MOVEMENTS_MAX + 3;
    await db.query(
      `with posting as (
         insert into postings (tenant_id, seq, kind, balance_before, amount, balance)
         select $1, 1 + n, 'adjustment', a.balance + n - 1, 1, a.balance + n
           from accounts a, generate_series(1, $2) as n where a.tenant_id = $1 returning seq, balance)
       update accounts a set last_seq = p.seq, balance = p.balance
         from (select * from posting order by seq desc limit 1) as p where a.tenant_id = $1`,
      [tenant, more],
    );
    await moveInTime(db, tenant, timesFrom(from, 1 + more));
    const statement = await build(app, tenant, month);
    expect(statement.adjustments).toMatchObject({ others: { count: 3n, sum: 3n }, sum: BigInt(more) });
    expect(statement.adjustments.entries).toHaveLength(MOVEMENTS_MAX);
    expect(statement.adjustments.entries[0]!.at).toEqual(new Date(from + 1));
    const { usage: used } = statement;
    expect(used.rooms.map(({ room }) => room)).toEqual(
      Array.from({ length: ROOMS_MAX }, (_, at) => `room ${rooms - 1 - at}`),
    );
    expect(used.others).toMatchObject({
      rooms: 2n,
      records: 2n,
      egressBytes: BigInt(3 * 2 ** 20),
      ingressBytes: 2n,
    });
    expect(used.sum.records).toBe(BigInt(rooms));
    expect(readStatement(textOf(statement))).toEqual(statement);
  });

  test('of sums that are not those of the ledger is refused', async () => {
    const signedUp = await app.signUp();
    const tenant = idOf(signedUp);
    const { db } = app.service.deps;
    await charge(app, signedUp, [usageRecord({ room: 'lobby', egress_bytes: 2 ** 30, seconds: 86_400 })]);
    await moveInTime(db, tenant, timesFrom(from, 1));
    await foldUsage(app.service.deps);
    await db.query('update usage_room_hours set amount = amount + 1 where tenant_id = $1', [tenant]);
    const refused = build(app, tenant, month);
    await expect(refused).rejects.toThrow(StatementFaultError);
    await expect(refused).rejects.toThrow(/: the closing balance is -\$0\.\d{6} by the entries, and -\$0\./);
  });
});
