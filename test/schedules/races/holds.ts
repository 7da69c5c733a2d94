/** Tokens that take holds of budgets, usage that replaces them, and holds that are given back. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { insertBudget, listBudgets } from '../../../src/control/budgets/budgets.sql.ts';
import { coverTokensOfNewBudgets } from '../../../src/control/budgets/cover-tokens.ts';
import { giveBackExpired } from '../../../src/control/budgets/give-back.ts';
import { putBudget } from '../../../src/control/budgets/put-budget.ts';
import { spendFromBudgets } from '../../../src/control/budgets/spend-from-budgets.ts';
import { takeHold } from '../../../src/control/budgets/take-hold.ts';
import { RateCards } from '../../../src/money/pricing/rate-cards.ts';
import { wanted } from '../../control/budgets/support.ts';
import { makeRoom } from '../../control/watchdogs/support.ts';
import { newAdmission } from '../../support/admissions.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';
import { depsOf, QUIET, wasDone } from './deps.ts';

interface World {
  readonly tenant: TenantId;
  readonly room: string;
  /** The start of all tokens, in seconds since 1970. */
  readonly now: number;
}

/** What the token of `take()` holds: ten minutes with sound. */
const TOKEN = 3_000n;
const KEY = '0123456789abcdef';

/** A tenant with one hard budget of all. Holds of earlier runs are gone, because jobs look at all tenants. */
async function prepare(db: Pool, max: bigint): Promise<World> {
  await db.query('delete from budget_holds; delete from budgets');
  const tenant = await makeTenant(db, { status: 'active' });
  const now = Math.floor(Date.now() / 1000);
  await insertBudget(db, tenant, { ...wanted({ max }), uid: 'bu_all', periodStart: new Date(0) });
  return { tenant, room: 'lobby', now };
}

/** Returns whether the token was admitted. */
function take({ tenant, room, now }: World, db: Pool, username: string): Promise<boolean> {
  const deps = { rates: new RateCards(), findSpentUntil: async () => new Date(now * 1000) };
  const holder = {
    ...{ tenant, room, username, thumbprint: `device of ${username}`, keyId: KEY, customer: null },
    ...{ role: 'audience' as const, capabilities: ['subscribe.audio'], lifetimeSeconds: 600 },
  };
  return wasDone(
    inTransaction(db, (tx) => takeHold(tx, deps, holder, now)),
    'budget_reached',
  );
}

/** Relays report a minute of the user, for `micros`. */
function report({ tenant, room, now }: World, db: Pool, participant: string, micros: bigint): Promise<void> {
  const charge = { room, participant, at: new Date((now + 1) * 1000), seconds: 60, micros };
  return inTransaction(db, async (tx) =>
    spendFromBudgets(tx, tenant, [{ ...charge, keyId: KEY, customer: null }], await listBudgets(tx, tenant)),
  );
}

/** Each budget must hold what the holds say that are part of it. */
async function checkHeld(db: Pool, { tenant }: World): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string; held: bigint; ofHolds: bigint }>(
    `select id, held, (select coalesce(sum((h.rate * h.seconds + 59999) / 60000), 0)::bigint from budget_holds h
                        where h.tenant_id = b.tenant_id and b.uid = any(h.budgets)) as "ofHolds"
       from budgets b where tenant_id = $1`,
    [tenant],
  );
  const wrong = rows.find(({ held, ofHolds }) => held !== ofHolds);
  return wrong && `budget ${wrong.id} holds ${wrong.held}, its holds are ${wrong.ofHolds}`;
}

async function checkSpent(db: Pool, { tenant }: World, expected: bigint): Promise<string | undefined> {
  const [budget] = await listBudgets(db, tenant);
  return budget!.spent === expected ? undefined : `${budget!.spent} are spent, and not ${expected}`;
}

const roomForOne = staged<World>({
  name: 'two tokens, and room for one',
  prepare: (db) => prepare(db, TOKEN),
  actors: [(world, db) => take(world, db, 'ann'), (world, db) => take(world, db, 'bob')],
  check: async (db, world, admitted) => {
    const count = admitted.filter((each) => each === true).length;
    return count === 1 ? checkHeld(db, world) : `${count} were admitted`;
  },
});

const roomForBoth = staged<World>({
  name: 'two tokens, and a report of the first',
  prepare: async (db) => {
    const world = await prepare(db, 10n * TOKEN);
    await take(world, db, 'ann');
    return world;
  },
  actors: [
    (world, db) => take(world, db, 'bob'),
    (world, db) => take(world, db, 'cid'),
    (world, db) => report(world, db, 'ann', 100n),
  ],
  check: async (db, world) => (await checkHeld(db, world)) ?? checkSpent(db, world, 100n),
});

const lateReport = staged<World>({
  name: 'a hold that is given back while its usage is reported',
  prepare: async (db) => {
    const world = await prepare(db, 10n * TOKEN);
    await take(world, db, 'ann');
    await db.query(`update budget_holds set until = now() - interval '1 hour' where tenant_id = $1`, [
      world.tenant,
    ]);
    return world;
  },
  actors: [
    (_, db) => giveBackExpired({ ...depsOf(db), log: QUIET }, async () => new Date()),
    (world, db) => report(world, db, 'ann', 100n),
  ],
  check: async (db, world) => (await checkHeld(db, world)) ?? checkSpent(db, world, 100n),
});

/** A token that was admitted before the tenant had budgets is renewed while a budget is made. */
const newBudget = staged<World>({
  name: 'a budget that is made while a token is renewed',
  prepare: async (db) => {
    await db.query('delete from budget_holds; delete from budgets');
    const tenant = await makeTenant(db, { status: 'active' });
    const { name: room, uid: roomUid } = await makeRoom(db, tenant);
    const capabilities = ['subscribe.audio'];
    const admission = newAdmission({ tenant, roomUid, username: 'ann', capabilities });
    await enterAlone(db, admission);
    return { tenant, room, now: Math.floor(Date.now() / 1000) };
  },
  actors: [
    (world, db) => take(world, db, 'ann'),
    (world, db) =>
      inTransaction(db, (tx) =>
        putBudget(tx, { rates: new RateCards() }, callerOf(world.tenant), wanted({ max: 10n * TOKEN })),
      ),
  ],
  check: async (db, world) => {
    await coverTokensOfNewBudgets({ db, log: QUIET, rates: new RateCards() });
    return checkHeld(db, world);
  },
});

export const HOLDS: Part = {
  part: 'holds',
  scenarios: [roomForOne, roomForBoth, lateReport, newBudget],
  races: [
    {
      name: 'two tokens take the same place of a budget',
      scenario: roomForOne,
      rewrite: { statement: 'lock-budgets', from: 'for no key update', to: '' },
    },
    {
      name: 'a hold is lost from what its budget holds',
      scenario: roomForBoth,
      rewrite: { statement: 'lock-budgets', from: 'for no key update', to: '' },
    },
    {
      name: 'usage waits for a hold that waits for it',
      scenario: lateReport,
      rewrite: { statement: 'lock-holds-over', from: 'for no key update skip locked', to: '' },
    },
    {
      name: 'usage replaces a hold that is given back',
      scenario: lateReport,
      rewrite: { statement: 'lock-holds-of-participants', from: 'for no key update', to: '' },
    },
    {
      name: 'the hold of a new budget is overwritten',
      scenario: newBudget,
      rewrite: {
        statement: 'insert-holds',
        from: 'on conflict do nothing',
        to: `on conflict (tenant_id, room, username, device, key_id, customer) do update
                set rate = excluded.rate, seconds = excluded.seconds, until = excluded.until, budgets = excluded.budgets`,
      },
      wasReal: true,
    },
  ],
};
