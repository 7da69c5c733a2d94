import { BudgetService } from '@boxoffice/contract/budget_service';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from 'vitest';
import { failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { setLimits } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const { method } = BudgetService;

let tenant: TestTenant;
let control: TestControl;
beforeEach(async () => {
  tenant = await app.paidTenant();
  control = controlOf(tenant);
});

const wanted = { id: 'all', period: 'month', limitMicros: 5_000_000n, hard: true };
const set = (fields: object = {}) => control.call(method.setBudget, { ...wanted, ...fields });
const rest = (verb: string, id = '') =>
  app.request(verb, `/v1/budgets${id && `/${id}`}`, { key: tenant.key });

test('a budget is the same over gRPC and REST', async () => {
  const scope = { key: tenant.keyId, room: 'class-*', customer: 'acme' };
  const { budget } = await set({ ...scope, alertPercents: [100, 50] });
  const { json } = await rest('GET', 'all');
  expect(budget).toMatchObject({
    ...{ ...scope, id: 'all', uid: json.uid, period: 'month', hard: true, alertPercents: [50, 100] },
    ...{ limitMicros: 5_000_000n, spentMicros: 0n, heldMicros: 0n, freeMicros: 5_000_000n, beyondMicros: 0n },
  });
  expect(timestampDate(budget!.periodStartTime!).toISOString()).toBe(json.period_started_at);
  expect(timestampDate(budget!.createTime!).toISOString()).toBe(json.created_at);
  expect((await control.call(method.getBudget, { id: 'all' })).budget).toStrictEqual(budget);
});

test('SetBudget replaces the amount, the kind and the percents', async () => {
  await set({ alertPercents: [50] });
  const { budget } = await set({ limitMicros: 0n, hard: false });
  expect(budget).toMatchObject({ limitMicros: 0n, hard: false, alertPercents: [] });
});

test.each([
  [{ period: 'day' }, 'period'],
  [{ room: 'lobby' }, 'room'],
  [{ customer: 'acme' }, 'customer'],
])('SetBudget says, as REST does, that %j cannot be changed', async (other, field) => {
  await set();
  const failure = await failureOf(set(other));
  expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'IMMUTABLE_FIELD', fields: [field] });
  const body = { period: 'month', limit_micros: 1, hard: true, ...other };
  const { json } = await app.request('PUT', '/v1/budgets/all', { key: tenant.key, body });
  expect(failure.message).toBe(json.error);
});

test('an idempotency key makes a budget once', async () => {
  const idempotencyKey = 'one';
  const { budget } = await set({ idempotencyKey });
  await control.call(method.deleteBudget, { id: 'all' });
  expect((await set({ idempotencyKey })).budget).toStrictEqual(budget);
  expect((await rest('GET', 'all')).status).toBe(404);
});

test('ListBudgets has pages, in the order of ids', async () => {
  await setLimits(app.service.deps.db, tenant, { budgets: 5 });
  for (const id of ['c', 'a_1', 'a-1', 'b', 'a']) await set({ id });
  const pages: string[][] = [];
  let pageToken = '';
  do {
    const page = await control.call(method.listBudgets, { pageSize: 2, pageToken });
    pages.push(page.budgets.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
  const { json } = await rest('GET');
  expect(pages.flat()).toEqual(json.budgets.map(({ id }: { id: string }) => id));
});

test('DeleteBudget ends it for REST, too', async () => {
  await set();
  await control.call(method.deleteBudget, { id: 'all' });
  expect((await rest('GET', 'all')).status).toBe(404);
});
