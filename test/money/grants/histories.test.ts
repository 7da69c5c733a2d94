/** Random histories of grants, against a model that goes through them one by one. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { spentOf } from '../../../src/money/grants/grant.ts';
import { grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import { listGrants } from '../../../src/money/grants/list-grants.ts';
import { readLots } from '../../../src/money/grants/read-lots.ts';
import { findPostedBalance } from '../../../src/money/ledger/posted-balance.sql.ts';
import { compareGrantEnds } from '../../../src/money/verification/compare-grant-ends.ts';
import { post } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { pass, spend } from './support.ts';
import { type Happening, walletAt } from './wallet.ts';

const RUNS = 200;
const DAY_MS = 86_400_000;

const app = useService();
const db = () => app.service.deps.db;

const micros = fc.bigInt({ min: 1n, max: 20n });
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('use'), amount: micros }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pay'), amount: fc.bigInt({ min: -15n, max: 15n }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('grant'),
      amount: micros,
      days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('void'), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass'), days: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end') }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** Acts on a ledger, and writes down what the model must know. */
class History {
  readonly happenings: Happening[] = [];
  readonly #tenant: TenantId;
  readonly #ids: string[] = [];
  readonly #start = Date.now();
  today = 0;

  constructor(tenant: TenantId) {
    this.#tenant = tenant;
  }

  /** The start of a day, after the past was moved. */
  startOf(day: number): Date {
    return new Date(this.#start + (day - this.today) * DAY_MS);
  }

  async act(next: Action): Promise<void> {
    const day = this.today;
    if ('which' in next) await this.#void(next.which);
    else if (next.do === 'pass' && 'days' in next) {
      this.today += next.days!;
      await pass(db(), this.#tenant, next.days!);
    } else if (next.do === 'end') await endGrants(app.service.deps);
    else if (next.do === 'use' && 'amount' in next) {
      await spend(db(), this.#tenant, next.amount);
      this.happenings.push({ day, what: 'usage', amount: next.amount });
    } else if (next.do === 'pay' && 'amount' in next) {
      await post(db(), this.#tenant, { kind: 'adjustment', amount: next.amount });
      this.happenings.push({ day, what: 'paid', amount: next.amount });
    } else if ('amount' in next && 'days' in next) {
      const endDay = next.days === undefined ? undefined : day + next.days;
      const expiresAt = endDay === undefined ? undefined : this.startOf(endDay);
      const given = { amount: next.amount, reason: 'a gift', expiresAt, key: undefined };
      const { grant } = await grantCredit(db(), OPERATOR, this.#tenant, given);
      this.#ids.push(grant.id);
      this.happenings.push({ day, what: 'grant', amount: next.amount, endDay });
    }
  }

  async #void(which: number): Promise<void> {
    const grant = this.#ids.length > 0 ? which % this.#ids.length : -1;
    const before = walletAt(this.happenings, this.today + 0.5).lots[grant];
    if (!before || (before.endDay !== undefined && before.endDay <= this.today)) return;
    const { posted } = await voidGrant(db(), OPERATOR, this.#tenant, {
      id: this.#ids[grant]!,
      reason: 'a mistake',
    });
    expect(posted).toBe(before.left > 0n);
    this.happenings.push({ day: this.today, what: 'void', grant });
  }
}

const sum = (values: readonly bigint[]) => values.reduce((total, each) => total + each, 0n);

async function expectAsModel(tenant: TenantId, history: History): Promise<void> {
  const { happenings, today } = history;
  const expected = walletAt(happenings, today + 0.5);
  const listed = (await listGrants(db(), tenant))!;
  expect(listed.items.map(({ left, forfeited }) => ({ left, forfeited })).reverse()).toEqual(
    expected.lots.map(({ left, forfeited }) => ({ left, forfeited })),
  );
  expect(listed.left).toBe(sum(expected.lots.map(({ left }) => left)));
  for (const grant of listed.items) expect(spentOf(grant)).toBeGreaterThanOrEqual(0n);
  for (let day = 0; day <= today; day += 1) {
    const at = history.startOf(day);
    const { seq, balance } = await findPostedBalance(db(), tenant, at);
    const { lots, granted } = await readLots(db(), tenant, { at, seq });
    const then = walletAt(happenings, day);
    expect(lots.reduce((left, lot) => (lot.isOver ? left : left + lot.left), 0n)).toBe(
      sum(then.lots.map(({ left }) => left)),
    );
    expect(balance - granted, `paid credit before day ${day} of ${today}`).toBe(then.paid);
  }
}

it('what is left, and what ends take, is what a model says, now and at the start of each day', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
      const tenant = await makeTenant(db(), { status: 'active' });
      const history = new History(tenant);
      for (const next of actions) await history.act(next);
      await expectAsModel(tenant, history);
      await endGrants(app.service.deps);
      await expectAsModel(tenant, history);
      const { paid, lots } = walletAt(history.happenings, history.today + 0.5);
      const { balance } = await findAccount(db(), tenant);
      expect(balance).toBe(paid + sum(lots.map(({ left }) => left)));
    }),
    { numRuns: RUNS },
  );
  expect(await compareGrantEnds(db())).toEqual([]);
});
