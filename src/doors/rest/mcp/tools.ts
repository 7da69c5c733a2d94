/** The tools of `/mcp`: each is a route of REST, with the right that it takes in the console. There is nothing else that an agent can do. */

import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { Agent } from '../../../access/agents/agent-key.ts';
import { type Ability, mayDo } from '../../../access/rights/abilities.ts';
import type { Route } from '../route.ts';

interface ToolRow {
  /** `operationId` of the route. */
  readonly operation: string;
  readonly needs: Ability;
  /** Instead of the words of the route. */
  readonly description?: string;
  /** Fields of the route that agents do not have. */
  readonly without?: readonly string[];
  /** A write. `before`: the route that shows what it changes, if there is one. */
  readonly write?: { readonly before?: string };
}

export const TOOL_ROWS: readonly ToolRow[] = [
  { operation: 'getRates', needs: 'see_overview' },
  { operation: 'getBilling', needs: 'see_money' },
  { operation: 'getRunway', needs: 'see_money' },
  { operation: 'listLedger', needs: 'see_money' },
  { operation: 'summarizeUsage', needs: 'see_money' },
  { operation: 'listUsageRecords', needs: 'see_money' },
  { operation: 'explainUsage', needs: 'see_money' },
  { operation: 'listSessions', needs: 'see_money' },
  { operation: 'getSession', needs: 'see_money' },
  { operation: 'getRoomCost', needs: 'see_money' },
  { operation: 'listBudgets', needs: 'see_money' },
  { operation: 'getBudget', needs: 'see_money' },
  { operation: 'getAlerts', needs: 'see_alerts' },
  {
    operation: 'listEvents',
    needs: 'see_webhooks',
    description:
      'Events of the tenant, in order, such as `balance_low` or `room_created`. Ask again with the `after` of the answer. An `after` ' +
      'whose next event is gone, or that the log has not reached, is refused.',
    without: ['wait_seconds'],
  },
  { operation: 'listAudit', needs: 'see_audit' },
  { operation: 'setAlerts', needs: 'change_alerts', write: { before: 'getAlerts' } },
  { operation: 'setBudget', needs: 'change_budgets', write: { before: 'getBudget' } },
  { operation: 'openCheckout', needs: 'pay', write: {} },
];

export interface Tool extends ToolRow {
  readonly name: string;
  readonly route: Route;
  /** Shows what a write changes. */
  readonly before: Route | undefined;
  /** As the protocol describes it. */
  readonly described: McpTool;
}

type Properties = Readonly<Record<string, object>>;

interface ObjectSchema {
  readonly properties: Properties;
  readonly required?: readonly string[];
}

/** Fails if a row names no route. */
export function toolsOf(routes: readonly Route[]): ReadonlyMap<string, Tool> {
  const byOperation = new Map(routes.map((route) => [route.row.operation, route]));
  const find = (operation: string) => {
    const route = byOperation.get(operation);
    if (!route) throw new Error(`no route ${operation}`);
    return route;
  };
  return new Map(
    TOOL_ROWS.map((row) => {
      const name = row.operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const route = find(row.operation);
      const before = row.write?.before === undefined ? undefined : find(row.write.before);
      return [name, { ...row, name, route, before, described: describe(name, row, route) }];
    }),
  );
}

/** Whether the key of an agent opens a tool. */
export function mayCall({ role, writesPerDay }: Agent, { needs, write }: Tool): boolean {
  return mayDo(role, needs) && (!write || writesPerDay > 0);
}

const TWO_CALLS =
  ' This is a write: the first call changes nothing, and returns a preview and a `confirmation`. Show the preview to the person whom you ' +
  'work for. To make the change, call again with the same arguments and the `confirmation`, once and within five minutes.';

const CONFIRMATION = { type: 'string', description: 'As the preview of the same call returned it' };

function describe(name: string, { description, without = [], write }: ToolRow, { row }: Route): McpTool {
  const { summary } = row;
  const parts = [row.params, row.query, row.body] as (ObjectSchema | undefined)[];
  const fields = Object.assign({}, ...parts.map((part) => part?.properties)) as Properties;
  const properties = Object.fromEntries(Object.entries(fields).filter(([field]) => !without.includes(field)));
  const described = {
    name,
    title: summary,
    description: (description ?? `${summary}. ${row.description}`) + (write ? TWO_CALLS : ''),
    inputSchema: {
      type: 'object',
      properties: { ...properties, ...(write && { confirmation: CONFIRMATION }) },
      required: parts.flatMap((part) => part?.required ?? []),
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: !write,
      destructiveHint: write !== undefined,
      idempotentHint: !write,
      openWorldHint: false,
    },
  };
  // Schemas have symbols as well, which the library does not expect.
  return JSON.parse(JSON.stringify(described));
}

export type Arguments = Readonly<Record<string, unknown>>;

/** The request that a tool stands for. What the route does not know is sent with the rest, and so refused by it. */
export function requestOf({ row }: Route, given: Arguments) {
  const [method = '', url = ''] = row.path.split(' ');
  const fieldsOf = (part: unknown) => Object.keys((part as ObjectSchema | undefined)?.properties ?? {});
  const params = fieldsOf(row.params);
  const query = fieldsOf(row.query);
  const rest = Object.entries(given).filter(([field]) => !params.includes(field));
  const isOfQuery = (field: string) => !row.body || query.includes(field);
  const search = new URLSearchParams(
    rest
      .filter(([field]) => isOfQuery(field))
      .map(([field, value]): [string, string] => [field, textOf(value)]),
  );
  const address = url.replace(/:(\w+)/g, (_, field: string) =>
    encodeURIComponent(textOf(given[field] ?? '')),
  );
  return {
    method,
    url,
    target: search.size > 0 ? `${address}?${search}` : address,
    body: row.body && Object.fromEntries(rest.filter(([field]) => !isOfQuery(field))),
  };
}

/** In an address, a number is as good as its digits. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
