/** A call of a tool: a read is its route. A write is a preview first, and its route once it is confirmed. */
import type { Agent } from '../../../access/agents/agent-key.ts';
import { type Confirmation, openConfirmation, useConfirmation } from '../../../access/agents/confirmation.ts';
import { Failure, invalidField } from '../../../base/failure.ts';
import { countLimitRefusal } from '../../../base/tenants/limits.ts';
import type { Deps } from '../../deps.ts';
import type { Http } from '../../http/http.ts';
import { callInside, type InnerAnswer } from '../inner-call.ts';
import type { Route } from '../route.ts';
import { type Arguments, requestOf, type Tool } from './tools.ts';

/** What a tool returns: the JSON of the route, also for a refusal. */
export async function callTool(app: Http, deps: Deps, agent: Agent, tool: Tool, given: Arguments) {
  const { isOk, text } = await answer(app, deps, agent, tool, given).catch((error: unknown) => {
    countLimitRefusal(deps.metrics, error);
    if (error instanceof Failure) return refusal(error.message);
    // The library would tell the agent what it was.
    deps.log.error({ err: error }, 'internal error');
    return refusal('internal error');
  });
  return { content: [{ type: 'text' as const, text: text || '{}' }], ...(!isOk && { isError: true }) };
}

async function answer(
  app: Http,
  deps: Deps,
  agent: Agent,
  tool: Tool,
  given: Arguments,
): Promise<InnerAnswer> {
  const call = (route: Route, fields: Arguments, isTrial = false) =>
    callInside(app, { caller: agent, isTrial }, requestOf(route, fields));
  const hidden = tool.without?.find((field) => field in given);
  if (hidden !== undefined) throw invalidField(hidden, 'is not a known parameter');
  if (!tool.write) return call(tool.route, given);

  const { confirmation, ...args } = given;
  // Refused as the write would be, before anything is shown or used up.
  const trial = await call(tool.route, args, true);
  if (!trial.isOk) return trial;
  const write = { tool: tool.name, arguments: args };
  if (confirmation === undefined) {
    const before = tool.before && (await call(tool.before, paramsOf(tool.before, args)));
    const opened = await deps.calls.run(agent, () => openConfirmation(deps.db, agent, write));
    return preview(args, before, opened);
  }
  const said = typeof confirmation === 'string' ? confirmation : '';
  await deps.calls.run(agent, () => useConfirmation(deps.db, agent, write, said));
  return call(tool.route, args);
}

function paramsOf({ row }: Route, args: Arguments): Arguments {
  const names = Object.keys((row.params as { properties?: object } | undefined)?.properties ?? {});
  return Object.fromEntries(names.map((name) => [name, args[name]]));
}

/** `now`: what the write changes, as it is. Absent: there is nothing yet. */
function preview(
  wanted: Arguments,
  before: InnerAnswer | undefined,
  { confirmation, expiresAt, writesLeft }: Confirmation,
): InnerAnswer {
  // Amounts in it may be larger than a number can hold.
  const now = before?.isOk ? `"now":${before.text},` : '';
  const rest = JSON.stringify({
    confirmation,
    expires_at: expiresAt.toISOString(),
    writes_left: writesLeft,
  }).slice(1);
  return { isOk: true, text: `{"preview":{${now}"wanted":${JSON.stringify(wanted)}},${rest}` };
}

function refusal(error: string): InnerAnswer {
  return { isOk: false, text: JSON.stringify({ error }) };
}
