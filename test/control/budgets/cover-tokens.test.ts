/** Budgets that are made while sessions run. */
import { expect, test } from 'vitest';
import { matchesRoom } from '../../../src/access/rights/room-names.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { listTenantsWithNewBudgets } from '../../../src/control/budgets/budgets.sql.ts';
import { coverTokensOfNewBudgets } from '../../../src/control/budgets/cover-tokens.ts';
import { deleteBudget } from '../../../src/control/budgets/delete-budget.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';
import { mint, newStage } from '../moderation/support.ts';
import { AUDIO_TOKEN, pass, put, read, spend, VIDEO_TOKEN, wanted } from './support.ts';

const app = useService();
const controlOf = useControl(app);

test('the first budget holds what tokens from before may still cost', async () => {
  const stage = await newStage(app, controlOf);
  await mint(stage, 'ann');
  await mint(stage, 'bob', { capabilities: ['subscribe.audio'], customer: 'acme' });
  const all = await put(app, stage.tenant, wanted({ max: 2n * VIDEO_TOKEN }));
  const acme = await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: 0n }));
  // Some of their time may have passed.
  expect(Number(all.held)).toBeCloseTo(Number(VIDEO_TOKEN + AUDIO_TOKEN), -3);
  expect(acme).toMatchObject({ held: all.held - VIDEO_TOKEN });
  expect(await failureOf(mint(stage, 'cid'))).toMatchObject({ metadata: { budget: 'all' } });
  await pass(app, stage.tenant, 600);
  await spend(app, stage.tenant, { participant: 'bob', seconds: 600, micros: AUDIO_TOKEN });
  expect(await read(app, stage.tenant, 'acme')).toMatchObject({ spent: AUDIO_TOKEN, held: 0n });
});

test('usage that was charged before the budget was made is not spent from it', async () => {
  const stage = await newStage(app, controlOf);
  await mint(stage, 'ann');
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN, period: 'month' }));
  await pass(app, stage.tenant, 120);
  const at = new Date(Date.now() - 60_000);
  await spend(app, stage.tenant, { participant: 'ann', seconds: 60, micros: 100n, at });
  expect(await read(app, stage.tenant)).toMatchObject({ spent: 0n, held: (VIDEO_TOKEN * 9n) / 10n });
});

test('a token that was admitted while the budget was made is covered soon after', async () => {
  const stage = await newStage(app, controlOf);
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  // As the token's transaction left it, which saw no budget.
  await mint(stage, 'ann');
  await app.service.deps.db.query('delete from budget_holds where tenant_id = $1', [idOf(stage.tenant)]);
  await app.service.deps.db.query('update budgets set held = 0, free = max where tenant_id = $1', [
    idOf(stage.tenant),
  ]);
  await coverTokensOfNewBudgets(app.service.deps);
  expect(await read(app, stage.tenant)).toMatchObject({ held: VIDEO_TOKEN });
  expect(await failureOf(mint(stage, 'bob'))).toMatchObject({ reason: 'BUDGET_REACHED' });
});

test('tenants that never paid take no turn, and the others take turns by age', async () => {
  const { db } = app.service.deps;
  const tenants = [await app.paidTenant(), await app.signUp(), await app.paidTenant()];
  for (const tenant of tenants) await put(app, tenant, wanted({ max: 1n }));
  await db.query("update budgets set created_at = created_at - interval '1 minute' where tenant_id = $1", [
    idOf(tenants[2]!),
  ]);
  const ids = new Set(tenants.map((tenant) => idOf(tenant)));
  const listed = (await listTenantsWithNewBudgets(db, 120)).filter((id) => ids.has(id));
  expect(listed).toEqual([idOf(tenants[2]!), idOf(tenants[0]!)]);
});

test('a token from between two budgets is covered, though its device has a hold of an earlier one', async () => {
  const stage = await newStage(app, controlOf);
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  await mint(stage, 'ann', { capabilities: ['subscribe.audio'] });
  await inTransaction(app.service.deps.db, (tx) => deleteBudget(tx, callerOf(idOf(stage.tenant)), 'all'));
  await mint(stage, 'ann');
  const all = await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  expect(Number(all.held)).toBeCloseTo(Number(VIDEO_TOKEN), -3);
  const again = await put(app, stage.tenant, wanted({ id: 'again', max: VIDEO_TOKEN }));
  expect(again.held).toBe(all.held);
  expect(await read(app, stage.tenant)).toMatchObject({ held: all.held });
});

test('a hold is part of no budgets that were deleted, however often budgets are made', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = idOf(stage.tenant);
  await mint(stage, 'ann');
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  for (let round = 0; round < 3; round += 1) {
    await put(app, stage.tenant, wanted({ id: 'again', max: VIDEO_TOKEN }));
    await inTransaction(app.service.deps.db, (tx) => deleteBudget(tx, callerOf(tenant), 'again'));
  }
  const again = await put(app, stage.tenant, wanted({ id: 'again', max: VIDEO_TOKEN }));
  const all = await read(app, stage.tenant);
  const { rows } = await app.service.deps.db.query({
    text: 'select budgets from budget_holds where tenant_id = $1',
    values: [tenant],
  });
  expect(rows).toEqual([{ budgets: [all.uid, again.uid] }]);
  expect(again.held).toBe(all.held);
});

test('holds of more than one page are covered, each once', async () => {
  const stage = await newStage(app, controlOf);
  const { db } = app.service.deps;
  const tenant = idOf(stage.tenant);
  await put(app, stage.tenant, wanted({ id: 'acme', max: 0n, customer: 'acme', hard: false }));
  // As tokens leave them: 1,000 seconds of a micro each.
  await db.query({
    text: `insert into budget_holds (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
           select $1, 'room' || i % 7, 'user' || i, 'device', 'key', case when i % 2 = 0 then 'acme' else '' end, 60000, 1000,
                  now() + interval '1 hour', '{}' from generate_series(1, 1001) as i`,
    values: [tenant],
  });
  await coverTokensOfNewBudgets(app.service.deps);
  await coverTokensOfNewBudgets(app.service.deps);
  expect(await read(app, stage.tenant, 'acme')).toMatchObject({ held: 500_000n });
  const { rows } = await db.query({
    text: `select cardinality(budgets) as budgets, count(*)::integer as count
             from budget_holds where tenant_id = $1 group by 1 order by 1`,
    values: [tenant],
  });
  expect(rows).toEqual([
    { budgets: 0, count: 501 },
    { budgets: 1, count: 500 },
  ]);
});

test.each(['a_*', '*_b', 'a_b', '*', '*.*', 'A_b', '*a*b*'])(
  'a budget of rooms %s covers the holds that it would cover at an admission',
  async (room) => {
    const stage = await newStage(app, controlOf);
    const tenant = idOf(stage.tenant);
    const rooms = ['a_b', 'axb', 'a_', 'x_b', 'a.b', 'A_b', 'ab'];
    await app.service.deps.db.query({
      text: `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
             select $1, room, 'ann', 'device', 'key', 60000, 1000, now() + interval '1 hour', '{}' from unnest($2::text[]) as room`,
      values: [tenant, rooms],
    });
    const { held } = await put(app, stage.tenant, wanted({ max: 10_000n, room }));
    expect(held).toBe(1_000n * BigInt(rooms.filter((name) => matchesRoom(room, name)).length));
  },
);

test('a tenant with more holds than a turn takes is covered, and the others, too', async () => {
  const { db } = app.service.deps;
  const stages = [await newStage(app, controlOf), await newStage(app, controlOf)];
  const counts = [4_100, 1];
  for (const [at, { tenant }] of stages.entries()) {
    await put(app, tenant, wanted({ max: 0n, hard: false }));
    await db.query({
      text: `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
             select $1, 'lobby', 'user' || i, 'device', 'key', 60000, 1, now() + interval '1 hour', '{}' from generate_series(1, $2) as i`,
      values: [idOf(tenant), counts[at]],
    });
  }
  await coverTokensOfNewBudgets(app.service.deps);
  for (const [at, { tenant }] of stages.entries())
    expect(await read(app, tenant)).toMatchObject({ held: BigInt(counts[at]!) });
});
