/** Usage replaces holds, and is spent from budgets, from the report of a relay on. */
import { beforeEach, expect, test } from 'vitest';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { giveBackExpired } from '../../../src/control/budgets/give-back.ts';
import { findAssignedUntil } from '../../../src/control/sessions/session-cursors.sql.ts';
import { report } from '../../doors/rest/ledger-routes.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { mint, newStage, type Stage } from '../moderation/support.ts';
import { assignAll } from '../sessions/support.ts';
import { AUDIO_TOKEN, expireBefore, pass, put, read, spend, VIDEO_TOKEN, wanted } from './support.ts';

const app = useService();
const controlOf = useControl(app);

let stage: Stage;
beforeEach(async () => {
  stage = await newStage(app, controlOf);
});

const sound = { capabilities: ['publish.audio', 'subscribe.audio'] };
/** Five minutes at the ceiling of sound. */
const audioRecord = (participant: string) =>
  usageRecord({
    room: 'lobby',
    participant,
    tier: 'audio',
    role: 'audience',
    seconds: 300,
    egress_bytes: 1e9,
  });

test('what a relay reports replaces the hold of its token, in all budgets that cover it', async () => {
  await put(app, stage.tenant, wanted({ max: 2n * AUDIO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: AUDIO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'other', customer: 'other', max: 0n }));
  await mint(stage, 'ann', { ...sound, customer: 'acme' });
  expect(await failureOf(mint(stage, 'bob', { ...sound, customer: 'other' }))).toMatchObject({
    metadata: { budget: 'other' },
  });
  await pass(app, stage.tenant, 300);
  await report(app, stage.tenant, [audioRecord('ann')]);
  await assignAll(app.service.deps.db, idOf(stage.tenant));
  const half = AUDIO_TOKEN / 2n;
  expect(await read(app, stage.tenant)).toMatchObject({ spent: half, held: half });
  expect(await read(app, stage.tenant, 'acme')).toMatchObject({ spent: half, held: half });
  expect(await read(app, stage.tenant, 'other')).toMatchObject({ spent: 0n, held: 0n });
});

test('a record of more seconds than have passed since the token was made does not free what it may still cost', async () => {
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  await mint(stage, 'ann');
  await pass(app, stage.tenant, 60);
  await spend(app, stage.tenant, { participant: 'ann', seconds: 86_400, micros: 10n });
  const { spent, held } = await read(app, stage.tenant);
  expect(spent).toBe(10n);
  // A minute, the slack of clocks, and what this test takes.
  expect(Number(held)).toBeCloseTo((Number(VIDEO_TOKEN) * 9) / 10, -3.5);
  expect(await failureOf(mint(stage, 'bob'))).toMatchObject({ reason: 'BUDGET_REACHED' });
});

test('the newest token of a device pays first, and an earlier one what that cannot have used', async () => {
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: AUDIO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'zeta', customer: 'zeta', max: 2n * AUDIO_TOKEN }));
  await mint(stage, 'ann', { ...sound, customer: 'acme' });
  await pass(app, stage.tenant, 1);
  await mint(stage, 'ann', { ...sound, customer: 'zeta' });
  await pass(app, stage.tenant, 300);
  const usage = { participant: 'ann', seconds: 310, customer: 'acme' };
  await spend(app, stage.tenant, { ...usage, micros: 100n });
  expect(await read(app, stage.tenant, 'acme')).toMatchObject({ spent: 0n });
  expect(await read(app, stage.tenant, 'zeta')).toMatchObject({ spent: 100n });
  // At a second relay, with the earlier token.
  await spend(app, stage.tenant, { ...usage, micros: AUDIO_TOKEN / 2n });
  expect((await read(app, stage.tenant, 'acme')).spent).toBeGreaterThan(AUDIO_TOKEN / 3n);
});

test('what no hold covers is spent beyond the budget of its session', async () => {
  await put(app, stage.tenant, wanted({ max: 100n }));
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: 100n }));
  await spend(app, stage.tenant, { participant: 'bob', seconds: 10, micros: 250n, customer: 'acme' });
  for (const id of ['all', 'acme']) {
    expect(await read(app, stage.tenant, id)).toMatchObject({ spent: 250n, held: 0n });
  }
  expect(await failureOf(mint(stage, 'ann', sound))).toMatchObject({ reason: 'BUDGET_REACHED' });
});

test('what expired without usage is given back after the grace time, once all charges are spent', async () => {
  const { deps } = app.service;
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  await mint(stage, 'ann');
  await expireBefore(app, 800);
  await giveBackExpired(deps, findAssignedUntil);
  expect(await read(app, stage.tenant)).toMatchObject({ held: VIDEO_TOKEN });
  await expireBefore(app, 1_000);
  await giveBackExpired(deps, async () => new Date(Date.now() - 60_000));
  // The job of the service may have come first.
  await giveBackExpired(deps, findAssignedUntil);
  await expect.poll(() => read(app, stage.tenant)).toMatchObject({ spent: 0n, held: 0n });
  await mint(stage, 'bob');
});

test('more holds than a turn takes are given back', async () => {
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  await app.service.deps.db.query(
    `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
     select $1, 'lobby', 'user-' || n, 'device', $2, 5, 0, now() - interval '1 hour', '{}' from generate_series(1, 1200) n`,
    [idOf(stage.tenant), stage.tenant.keyId],
  );
  await giveBackExpired(app.service.deps, findAssignedUntil);
  const left = () =>
    app.service.deps.db.query('select from budget_holds where tenant_id = $1', [idOf(stage.tenant)]);
  // The job of the service may be giving some back.
  await expect.poll(left).toMatchObject({ rowCount: 0 });
});

test('usage of one room is told apart by the customer, also one that is called null', async () => {
  const { tenant } = await newStage(app, controlOf);
  await put(app, tenant, wanted({ max: 1000n, customer: 'null', hard: false }));
  const unknown = { participant: 'ann', seconds: 60, micros: 100n };
  await spend(
    app,
    tenant,
    unknown,
    { ...unknown, customer: 'null' },
    { ...unknown, micros: 7n, customer: 'null' },
  );
  expect(await read(app, tenant)).toMatchObject({ spent: 107n });
});

test('a thousand tenants whose turns fail do not hold back the others', async () => {
  const { db, log } = app.service.deps;
  const tenant = idOf(stage.tenant);
  await db.query(
    `insert into tenants (id, name, email) select i, 'Ada', 'ada@example.com' from generate_series(1, 1000) as i`,
  );
  await db.query(
    `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
     select i::bigint, 'lobby', 'ann', 'device', 'key', 0, 0, now() - interval '2 days', array[]::text[] from generate_series(1, 1000) as i
     union all
     select $1::bigint, 'lobby', 'ann', 'device', 'key', 0, 0, now() - interval '1 day', array[]::text[]`,
    [tenant],
  );
  const turns = new TenantTurns(log.child({}, { level: 'silent' }), 'giving back');
  const findSpentUntil: typeof findAssignedUntil = async (tx, of) => {
    if (of > 0n && of <= 1000n) throw new Error('a broken tenant');
    return findAssignedUntil(tx, of);
  };
  await giveBackExpired({ db, log }, findSpentUntil, turns);
  await giveBackExpired({ db, log }, findSpentUntil, turns);
  const { rowCount } = await db.query('select from budget_holds where tenant_id = $1', [tenant]);
  expect(rowCount).toBe(0);
  await db.query('delete from budget_holds where tenant_id between 1 and 1000');
});

test('a tenant whose holds are over while another one has many gets its turn before those are all given back', async () => {
  const { db } = app.service.deps;
  const [many, few] = [idOf(stage.tenant), idOf((await newStage(app, controlOf)).tenant)];
  const insert = (tenant: bigint, count: number) =>
    db.query({
      text: `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
             select $1, 'lobby', 'user' || i, 'device', 'key', 0, 0, now() - interval '1 day', '{}'
               from generate_series(1, $2::integer) as i`,
      values: [tenant, count],
    });
  await insert(many, 1001);
  const turns: bigint[] = [];
  await giveBackExpired(app.service.deps, async (tx, tenant) => {
    if (tenant === many && !turns.includes(many)) await insert(few, 1);
    if (tenant === many || tenant === few) turns.push(tenant);
    return findAssignedUntil(tx, tenant);
  });
  expect(turns.indexOf(few)).toBeGreaterThan(0);
  expect(turns.indexOf(few)).toBeLessThan(turns.lastIndexOf(many));
});
