/** A call of a tool: a read is its route. A write is a preview first, and its route once it is confirmed. */
import type { Agent } from '../../../access/agents/agent-key.ts';
import { openConfirmation, useConfirmation } from '../../../access/agents/confirmation.ts';
import { Failure } from '../../../base/failure.ts';
import { countLimitRefusal } from '../../../base/tenants/limits.ts';
import type { Deps } from '../../deps.ts';
import type { Http } from '../../http/http.ts';
import { callInside, type InnerAnswer } from '../inner-call.ts';
import type { Route } from '../route.ts';
import { type Arguments, requestOf, type Tool } from './tools.ts';

/** What a tool returns: the JSON of the route, also for a refusal. */
export async function callTool(app: Http, deps: Deps, agent: Agent, tool: Tool, given: Arguments) {
  const call = (route: Route, args: Arguments, isTrial = false) =>
    callInside(app, { caller: agent, isTrial }, requestOf(route, args));
  const { confirmation, ...args } = given;
  if (!tool.write) return resultOf(await call(tool.route, given));

  // Refused as the write would be, before anything is shown or used up.
  const trial = await call(tool.route, args, true);
  if (!trial.isOk) return resultOf(trial);
  const write = { tool: tool.name, arguments: args };
  try {
    if (confirmation === undefined) {
      const before = tool.before && (await call(tool.before, paramsOf(tool.before, args)));
      return preview(args, before, await openConfirmation(deps.db, agent, write));
    }
    await useConfirmation(deps.db, agent, write, String(confirmation));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    countLimitRefusal(deps.metrics, error);
    return resultOf({ isOk: false, text: JSON.stringify({ error: error.message }) });
  }
  return resultOf(await call(tool.route, args));
}

function paramsOf({ row }: Route, args: Arguments): Arguments {
  const names = Object.keys((row.params as { properties?: object } | undefined)?.properties ?? {});
  return Object.fromEntries(names.map((name) => [name, args[name]]));
}

/** `now`: what the write changes, as it is. Absent: there is nothing yet. */
function preview(
  wanted: Arguments,
  before: InnerAnswer | undefined,
  { confirmation, expiresAt, writesLeft }: Awaited<ReturnType<typeof openConfirmation>>,
) {
  return resultOf({
    isOk: true,
    text: JSON.stringify({
      preview: { ...(before?.isOk && { now: JSON.parse(before.text) }), wanted },
      confirmation,
      expires_at: expiresAt.toISOString(),
      writes_left: writesLeft,
    }),
  });
}

function resultOf({ isOk, text }: InnerAnswer) {
  return { content: [{ type: 'text' as const, text: text || '{}' }], ...(!isOk && { isError: true }) };
}
