/** Where the calls of a route wait for their turn. */
import type { Deps } from './deps.ts';

/**
 * - `calls`: the usual one.
 * - `heavy reads`: of thousands of rows.
 * - `provider calls`, `webhook calls`: they wait for the payment provider, or for a webhook of the tenant.
 * - `its own`: the route takes its turns by itself.
 */
export type RouteQueue = 'calls' | 'heavy reads' | 'provider calls' | 'webhook calls' | 'its own';

const AT_ONCE: Pick<Deps['calls'], 'run'> = { run: (_caller, work) => work(false) };

export function queueOfRoute(
  deps: Pick<Deps, 'calls' | 'heavyReads' | 'providerCalls' | 'webhookCalls'>,
  queue: RouteQueue = 'calls',
): Pick<Deps['calls'], 'run'> {
  const queues: Record<RouteQueue, Pick<Deps['calls'], 'run'>> = {
    calls: deps.calls,
    'heavy reads': deps.heavyReads,
    'provider calls': deps.providerCalls,
    'webhook calls': deps.webhookCalls,
    'its own': AT_ONCE,
  };
  return queues[queue];
}
