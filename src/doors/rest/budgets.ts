/** `/v1/budgets` and below: what a tenant wants to spend at most. */

import { KEY_ID_PATTERN } from '../../access/keys/api-key.ts';
import { ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { type Static, Type, time, words } from '../../base/lib/schema.ts';
import {
  BUDGET_ID_PATTERN,
  BUDGET_MICROS_MAX,
  BUDGETS_LIMIT,
  type Budget,
  beyondOf,
  CUSTOMER_LENGTH_MAX,
  freeOf,
  parseCustomer,
  SHARE_MAX,
  SHARES_MAX,
  type WantedBudget,
} from '../../control/budgets/budget.ts';
import { deleteBudget } from '../../control/budgets/delete-budget.ts';
import { getBudget, getBudgets } from '../../control/budgets/get-budgets.ts';
import { PERIODS } from '../../control/budgets/period.ts';
import { putBudget } from '../../control/budgets/put-budget.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

const BudgetIdSchema = Type.Object({
  id: Type.String({
    pattern: BUDGET_ID_PATTERN,
    description: 'The id of the budget, which you choose',
    examples: ['acme-monthly'],
  }),
});

const scope = {
  key: Type.Optional(
    Type.String({
      pattern: KEY_ID_PATTERN,
      description: 'Id of an API key or a device credential: tokens that it asked for',
    }),
  ),
  room: Type.Optional(
    Type.String({
      pattern: ROOM_PATTERN_PATTERN,
      description: 'A name, in which `*` stands for any characters: tokens of these rooms',
      examples: ['class-*'],
    }),
  ),
  customer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CUSTOMER_LENGTH_MAX,
      description: 'Tokens that were minted with this `customer`',
      examples: ['acme'],
    }),
  ),
};

const period = words(PERIODS, { description: 'What it is for: each day or month, in UTC, or everything' });

const BudgetSchema = Type.Object(
  {
    id: Type.String({ pattern: BUDGET_ID_PATTERN, description: 'As you chose it' }),
    uid: Type.String({
      description: 'As tokens and relays know it; a budget that is made again has another one',
    }),
    ...scope,
    period,
    limit: AmountSchema,
    hard: Type.Boolean({
      description: 'Tokens that do not fit are refused. Otherwise events tell, and nothing is refused',
    }),
    alert_percents: Type.Array(Type.Integer(), {
      description: 'An event tells of each that is spent, once a period. Ascending',
    }),
    spent: AmountSchema,
    held: AmountSchema,
    free: AmountSchema,
    beyond: AmountSchema,
    period_started_at: time('Since when `spent` counts: the start of the period, or of the budget'),
    created_at: time('When it was made'),
  },
  {
    description:
      'A budget. `spent` was charged in this period, `held` is what tokens that run may still cost, `free` is what further ' +
      'tokens may cost, and `beyond` is what was charged although the budget was spent',
  },
);

const list = plain(
  {
    path: 'GET /v1/budgets',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Budgets',
    operation: 'listBudgets',
    summary: 'All budgets',
    description: `In the order of their ids, ${BUDGETS_LIMIT.active} at most unless an operator allows more.`,
    answer: {
      200: Type.Object(
        { budgets: Type.Array(BudgetSchema, { description: 'The budgets' }) },
        { description: 'All of them' },
      ),
    },
  },
  async ({ deps, caller }) => {
    return { budgets: (await getBudgets(deps.db, caller.tenant)).map(renderBudget) };
  },
);

const show = plain(
  {
    path: 'GET /v1/budgets/:id',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Budgets',
    operation: 'getBudget',
    summary: 'One budget',
    description: 'With what is spent, held and free.',
    params: BudgetIdSchema,
    answer: { 200: BudgetSchema },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    return renderBudget(await getBudget(deps.db, caller.tenant, params.id));
  },
);

const set = change(
  {
    path: 'PUT /v1/budgets/:id',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Budgets',
    operation: 'setBudget',
    summary: 'Make or change a budget',
    description:
      'It is in force with the next request. A budget without `key`, `room` and `customer` is of the whole tenant, and one with ' +
      'several of them is of what has all. A new one counts what is charged from then on. `key`, `room`, `customer` and `period` ' +
      'of one that exists cannot be changed.',
    params: BudgetIdSchema,
    body: strictObject({
      ...scope,
      period,
      limit_micros: Type.Integer({
        minimum: 0,
        maximum: BUDGET_MICROS_MAX,
        format: 'int64',
        description: 'Millionths of a US dollar. 0 and `hard` admits nothing that could cost anything',
        examples: [50_000_000],
      }),
      hard: Type.Boolean({ description: 'Refuse tokens that could cost more than is left' }),
      alert_percents: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: SHARE_MAX }), {
          uniqueItems: true,
          maxItems: SHARES_MAX,
          description: 'Percentages of the limit of which an event tells. Left out: none',
          examples: [[50, 80, 100]],
        }),
      ),
    }),
    answer: { 200: BudgetSchema },
    errors: [409],
    parse: ({ params, body }): WantedBudget => ({
      id: params.id,
      keyId: body.key ?? null,
      room: body.room ?? null,
      customer: parseCustomer(body.customer ?? ''),
      period: body.period,
      max: BigInt(body.limit_micros),
      hard: body.hard,
      shares: (body.alert_percents ?? []).toSorted((a, b) => a - b),
    }),
    audit: ['budget_made', 'budget_changed'],
  },
  async (tx, { deps, caller, input }) => {
    return renderBudget(await putBudget(tx, deps, caller, input));
  },
);

const remove = change(
  {
    path: 'DELETE /v1/budgets/:id',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Budgets',
    operation: 'deleteBudget',
    summary: 'Delete a budget',
    description: 'With the next request it refuses nothing more.',
    params: BudgetIdSchema,
    answer: { 204: Type.Null({ description: 'Deleted' }) },
    errors: [404],
    audit: ['budget_deleted'],
  },
  async (tx, { caller, params }) => {
    await deleteBudget(tx, caller, params.id);
    return null;
  },
);

function renderBudget(budget: Budget): Static<typeof BudgetSchema> {
  const { id, uid, keyId, room, customer, period, hard, shares, max, spent, held, periodStart, createdAt } =
    budget;
  return {
    id,
    uid,
    ...(keyId !== null && { key: keyId }),
    ...(room !== null && { room }),
    ...(customer !== null && { customer }),
    period,
    limit: renderAmount(max),
    hard,
    alert_percents: [...shares],
    spent: renderAmount(spent),
    held: renderAmount(held),
    free: renderAmount(freeOf(budget)),
    beyond: renderAmount(beyondOf(budget)),
    period_started_at: periodStart.toISOString(),
    created_at: createdAt.toISOString(),
  };
}

export const budgetRoutes = [list, show, set, remove];
