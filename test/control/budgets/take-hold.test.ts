/** Tokens take holds of budgets, and are refused where they do not fit. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { deleteBudget } from '../../../src/control/budgets/delete-budget.ts';
import { giveBackExpired } from '../../../src/control/budgets/give-back.ts';
import {
  createCredential,
  deviceKey,
  expectJoined,
  expectText,
  join,
  thumbprint,
} from '../../support/devices.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { useService } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';
import { deviceOf, mint, newStage, type Stage } from '../moderation/support.ts';
import { AUDIO_TOKEN, expireBefore, pass, put, read, spend, VIDEO_TOKEN, wanted } from './support.ts';

const app = useService();
const controlOf = useControl(app);

let stage: Stage;
beforeEach(async () => {
  stage = await newStage(app, controlOf);
});

const sound = { capabilities: ['publish.audio', 'subscribe.audio'] };

describe('a hard budget', () => {
  test('admits exactly as many as fit', async () => {
    await put(app, stage.tenant, wanted({ max: 2n * VIDEO_TOKEN + AUDIO_TOKEN }));
    await mint(stage, 'ann');
    await mint(stage, 'bob');
    expect(await failureOf(mint(stage, 'cid'))).toMatchObject({
      reason: 'BUDGET_REACHED',
      metadata: { budget: 'all', free_micros: String(AUDIO_TOKEN) },
    });
    await mint(stage, 'dan', sound);
    expect(await failureOf(mint(stage, 'eve', sound))).toMatchObject({ reason: 'BUDGET_REACHED' });
    expect(await read(app, stage.tenant)).toMatchObject({ spent: 0n, held: 2n * VIDEO_TOKEN + AUDIO_TOKEN });
  });

  test('of 0 admits nobody, and says so to joins in plain text', async () => {
    await put(app, stage.tenant, wanted({ max: 0n }));
    expect(await failureOf(mint(stage, 'ann'))).toMatchObject({ reason: 'BUDGET_REACHED' });
    const { credential } = await createCredential(app, stage.tenant);
    const refused = await join(app, credential, { room: 'lobby', key: deviceKey() });
    expectText(refused, 402, 'budget reached: all has too little left for this session');
    await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
    expectJoined(await join(app, credential, { room: 'lobby', key: deviceKey() }));
  });

  test('counts a renewal for the time that is new', async () => {
    await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN + 1_000n }));
    await mint(stage, 'ann');
    const { held } = await read(app, stage.tenant);
    await mint(stage, 'ann');
    const renewed = (await read(app, stage.tenant)).held;
    expect(renewed - held).toBeLessThan(1_000n);
    expect(renewed).toBeGreaterThanOrEqual(held);
  });

  test('is told by the one with the least that is left', async () => {
    const half = VIDEO_TOKEN / 2n;
    await put(app, stage.tenant, wanted({ max: half }));
    await put(app, stage.tenant, wanted({ id: 'lobbies', room: 'lob*', max: half - 1n }));
    await put(app, stage.tenant, wanted({ id: 'other', room: 'other*', max: 0n }));
    expect(await failureOf(mint(stage, 'ann'))).toMatchObject({ metadata: { budget: 'lobbies' } });
  });

  test('whose hold cannot be written admits nothing', async () => {
    const { db } = app.service.deps;
    await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
    const tenant = idOf(stage.tenant);
    await app.service.deps.db.query(
      `alter table budget_holds add constraint no_holds check (tenant_id <> ${tenant}) not valid`,
    );
    expect(await failureOf(mint(stage, 'ann'))).toMatchObject({ code: 'INTERNAL' });
    for (const table of ['participants', 'admissions', 'budget_holds']) {
      const { rowCount } = await db.query(`select from ${table} where tenant_id = $1`, [tenant]);
      expect(rowCount).toBe(0);
    }
    expect(await read(app, stage.tenant)).toMatchObject({ held: 0n });
    await app.service.deps.db.query('alter table budget_holds drop constraint no_holds');
    await mint(stage, 'ann');
  });

  test('a refusal takes nothing from other budgets', async () => {
    await put(app, stage.tenant, wanted({ max: 10n * VIDEO_TOKEN }));
    await put(app, stage.tenant, wanted({ id: 'key', keyId: stage.tenant.keyId, max: 1n }));
    expect(await failureOf(mint(stage, 'ann'))).toMatchObject({ metadata: { budget: 'key' } });
    expect(await read(app, stage.tenant)).toMatchObject({ held: 0n });
  });
});

test('a budget that is deleted while holds are open, and made again, has them', async () => {
  await put(app, stage.tenant, wanted({ max: VIDEO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'other', max: 10n * VIDEO_TOKEN, hard: false }));
  await mint(stage, 'ann');
  await inTransaction(app.service.deps.db, (tx) => deleteBudget(tx, callerOf(idOf(stage.tenant)), 'all'));
  await mint(stage, 'bob');
  const made = await put(app, stage.tenant, wanted({ max: 3n * VIDEO_TOKEN }));
  expect(made.held).toBe(2n * VIDEO_TOKEN);
  await mint(stage, 'cid');
  expect(await failureOf(mint(stage, 'dan'))).toMatchObject({ reason: 'BUDGET_REACHED' });
});

test('ten thousand budgets: the one that covers the token decides', async () => {
  await put(app, stage.tenant, wanted({ max: 10n * VIDEO_TOKEN }));
  await app.service.deps.db.query(
    `insert into budgets (tenant_id, id, uid, customer, period, max, hard, shares, free, period_start)
     select $1, 'b' || n, 'bu_' || n, 'c' || n, 'total', n, true, '{}', n, now() from generate_series(1, 10000) n`,
    [idOf(stage.tenant)],
  );
  expect(await failureOf(mint(stage, 'ann', { customer: 'c9999' }))).toMatchObject({
    metadata: { budget: 'b9999' },
  });
  await mint(stage, 'ann');
  await spend(app, stage.tenant, { participant: 'bob', seconds: 1, micros: 5n, customer: 'c7' });
  expect(await read(app, stage.tenant, 'b7')).toMatchObject({ spent: 5n });
  expect(await read(app, stage.tenant)).toMatchObject({ spent: 5n, held: VIDEO_TOKEN });
});

test('a join does not take its device out of the budget of the customer that it was minted for', async () => {
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: VIDEO_TOKEN }));
  const key = deviceKey();
  await mint(stage, 'ann', { customer: 'acme', device: await thumbprint(key) });
  const { credential } = await createCredential(app, stage.tenant);
  // Room for the second that may have begun.
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: 2n * VIDEO_TOKEN }));
  expectJoined(await join(app, credential, { username: 'ann', room: 'lobby', key }));
  expect((await read(app, stage.tenant, 'acme')).held).toBeGreaterThanOrEqual(VIDEO_TOKEN);
});

test('a token of another key or customer leaves what an earlier one may still cost with its budget', async () => {
  await put(app, stage.tenant, wanted({ id: 'key', keyId: stage.tenant.keyId, max: 3n * VIDEO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'acme', customer: 'acme', max: VIDEO_TOKEN }));
  const key = deviceKey();
  const device = await thumbprint(key);
  await mint(stage, 'ann', { customer: 'acme', device });
  await pass(app, stage.tenant, 1);
  await mint(stage, 'ann', { customer: 'zeta', device });
  const { credential } = await createCredential(app, stage.tenant);
  expectJoined(await join(app, credential, { username: 'ann', room: 'lobby', key }));
  expect(await read(app, stage.tenant, 'key')).toMatchObject({ held: 2n * VIDEO_TOKEN });
  expect(await read(app, stage.tenant, 'acme')).toMatchObject({ held: VIDEO_TOKEN });
  expect(await failureOf(mint(stage, 'bob', { customer: 'acme' }))).toMatchObject({
    reason: 'BUDGET_REACHED',
  });
  await expireBefore(app, 3_600);
  await giveBackExpired(app.service.deps, async () => new Date());
  // The job of the service may have come first.
  await expect.poll(() => read(app, stage.tenant, 'key')).toMatchObject({ held: 0n });
});

test('a user with 1,000 holds gets none for another customer of a device, and goes on with those', async () => {
  await put(app, stage.tenant, wanted({ max: 10n * VIDEO_TOKEN }));
  await mint(stage, 'ann', { customer: 'c0' });
  await app.service.deps.db.query({
    text: `insert into budget_holds (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
           select tenant_id, room, username, 'device', key_id, 'c' || i, 0, 0, until, '{}'
             from budget_holds, generate_series(1, 999) i where tenant_id = $1`,
    values: [idOf(stage.tenant)],
  });
  expect(await failureOf(mint(stage, 'ann', { customer: 'another' }))).toMatchObject({
    reason: 'QUOTA_EXCEEDED',
    message: 'limit reached: at most 1000 keys and customers of the devices of one user in a room',
  });
  await mint(stage, 'ann', { customer: 'c0' });
  await mint(stage, 'ann', { customer: 'another', device: deviceOf('another') });
  await mint(stage, 'bob', { customer: 'another' });
});

test('a hold that is made for an earlier token in the same moment is extended, and counts once', async () => {
  const budget = await put(app, stage.tenant, wanted({ max: 10n * VIDEO_TOKEN }));
  const tenant = idOf(stage.tenant);
  const { pool } = app.database;
  const made = await pool.connect();
  await made.query('begin');
  await made.query({
    text: `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
           values ($1, 'lobby', 'ann', $2, $4, 60000, 300, date_trunc('second', now()) + interval '300 s', $3)`,
    values: [tenant, deviceOf('ann'), [budget.uid], stage.tenant.keyId],
  });
  await made.query('update budgets set held = held + 300, free = free - 300 where tenant_id = $1', [tenant]);
  const minted = mint(stage, 'ann');
  await expect.poll(() => countLockWaiters(pool)).toBeGreaterThan(0);
  await made.query('commit');
  made.release();
  await minted;
  const { rows } = await pool.query(
    'select ceil(rate * seconds / 60000.0)::bigint as amount from budget_holds where tenant_id = $1',
    [tenant],
  );
  expect(rows).toEqual([{ amount: (await read(app, stage.tenant)).held }]);
});
