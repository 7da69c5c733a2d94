/** `BudgetService`: the operations of `/v1/budgets`. */
import type { BudgetSchema } from '@boxoffice/contract/budget';
import { BudgetService, type SetBudgetRequest } from '@boxoffice/contract/budget_service';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { isKeyId } from '../../access/keys/api-key.ts';
import { invalidField } from '../../base/failure.ts';
import {
  BUDGET_ID_PATTERN,
  BUDGET_MICROS_MAX,
  type Budget,
  beyondOf,
  freeOf,
  parseCustomer,
  SHARE_MAX,
  SHARES_MAX,
  type WantedBudget,
} from '../../control/budgets/budget.ts';
import { deleteBudget } from '../../control/budgets/delete-budget.ts';
import { getBudget, getBudgetPage } from '../../control/budgets/get-budgets.ts';
import { PERIODS, type Period } from '../../control/budgets/period.ts';
import { putBudget } from '../../control/budgets/put-budget.ts';
import { parsePageSize, parseRoomPattern, parseToken, renderToken } from './fields.ts';
import { command, type Methods, query } from './methods.ts';

const { method } = BudgetService;
const BUDGET_ID = new RegExp(BUDGET_ID_PATTERN);

/** As the REST interface has it. */
const OPEN_TENANTS = { closedTo: ['suspended', 'archived'] } as const;

export const budgetMethods = {
  setBudget: command(
    method.setBudget,
    parseWanted,
    async (tx, { deps, caller }, wanted) => ({
      budget: renderBudget(await putBudget(tx, deps, caller, wanted)),
    }),
    OPEN_TENANTS,
  ),
  getBudget: query(
    method.getBudget,
    async ({ deps, tenant }, { id }) => ({
      budget: renderBudget(await getBudget(deps.db, tenant, parseBudgetId(id))),
    }),
    OPEN_TENANTS,
  ),
  listBudgets: query(
    method.listBudgets,
    async ({ deps, tenant }, { pageSize, pageToken }) => {
      const page = { size: parsePageSize(pageSize), after: parseLastId(pageToken) };
      const { items, end } = await getBudgetPage(deps.db, tenant, page);
      return {
        budgets: items.map(renderBudget),
        nextPageToken: end === undefined ? '' : renderToken([end.id]),
      };
    },
    OPEN_TENANTS,
  ),
  deleteBudget: command(
    method.deleteBudget,
    ({ id }) => parseBudgetId(id),
    async (tx, { caller }, id) => {
      await deleteBudget(tx, caller, id);
      return {};
    },
    OPEN_TENANTS,
  ),
} satisfies Methods<typeof BudgetService>;

function parseWanted(request: SetBudgetRequest): WantedBudget {
  const { id, key, room, customer, period, limitMicros, hard, alertPercents } = request;
  return {
    id: parseBudgetId(id),
    keyId: key === '' ? null : parseKeyId(key),
    room: room === '' ? null : parseRoomPattern(room, 'room'),
    customer: parseCustomer(customer),
    period: parsePeriod(period),
    max: parseLimit(limitMicros),
    hard,
    shares: parseShares(alertPercents),
  };
}

function parseBudgetId(text: string): string {
  if (text === '') throw invalidField('id', 'is required');
  if (!BUDGET_ID.test(text)) throw invalidField('id', `must match ${BUDGET_ID_PATTERN}`);
  return text;
}

function parseKeyId(text: string): string {
  if (!isKeyId(text)) throw invalidField('key', 'must be 16 hex characters');
  return text;
}

function parsePeriod(text: string): Period {
  const period = PERIODS.find((each) => each === text);
  if (!period) throw invalidField('period', `must be one of ${PERIODS.join(', ')}`);
  return period;
}

function parseLimit(micros: bigint): bigint {
  if (micros < 0n || micros > BUDGET_MICROS_MAX) {
    throw invalidField('limit_micros', `must be 0 to ${BUDGET_MICROS_MAX}`);
  }
  return micros;
}

/** Ascending. */
function parseShares(percents: readonly number[]): number[] {
  const wrong = percents.findIndex((each) => each < 1 || each > SHARE_MAX);
  if (wrong >= 0) throw invalidField(`alert_percents[${wrong}]`, `must be 1 to ${SHARE_MAX}`);
  if (percents.length > SHARES_MAX || new Set(percents).size < percents.length) {
    throw invalidField('alert_percents', `must be up to ${SHARES_MAX} different percentages`);
  }
  return percents.toSorted((a, b) => a - b);
}

/** Empty: from the first budget. */
function parseLastId(token: string): string {
  const parts = parseToken(token);
  if (!parts) return '';
  if (parts.length !== 1 || !BUDGET_ID.test(parts[0]!)) {
    throw invalidField('page_token', 'must be one that an answer gave');
  }
  return parts[0]!;
}

function renderBudget(budget: Budget): MessageInitShape<typeof BudgetSchema> {
  const { id, uid, keyId, room, customer, period, max, hard, shares, spent, held } = budget;
  return {
    ...{ id, uid, key: keyId ?? '', room: room ?? '', customer: customer ?? '', period, hard },
    limitMicros: max,
    alertPercents: [...shares],
    spentMicros: spent,
    heldMicros: held,
    freeMicros: freeOf(budget),
    beyondMicros: beyondOf(budget),
    periodStartTime: timestampFromDate(budget.periodStart),
    createTime: timestampFromDate(budget.createdAt),
  };
}
