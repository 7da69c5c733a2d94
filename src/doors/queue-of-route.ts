/** Where the calls of a route wait for their turn, by what the route says of itself. */
import type { Deps } from './deps.ts';

export interface RouteLoad {
  /** It waits for the payment provider. */
  readonly callsProvider?: boolean;
  /** It waits for a webhook of the tenant. */
  readonly callsWebhook?: boolean;
  /** It reads thousands of rows. */
  readonly isHeavy?: boolean;
  /** It takes its turns by itself. */
  readonly ownQueue?: boolean;
}

const AT_ONCE: Pick<Deps['calls'], 'run'> = { run: (_caller, work) => work() };

export function queueOfRoute(
  deps: Pick<Deps, 'calls' | 'heavyReads' | 'providerCalls' | 'webhookCalls'>,
  { callsProvider, callsWebhook, isHeavy, ownQueue }: RouteLoad = {},
): Pick<Deps['calls'], 'run'> {
  if (ownQueue) return AT_ONCE;
  if (isHeavy) return deps.heavyReads;
  if (callsProvider) return deps.providerCalls;
  return callsWebhook ? deps.webhookCalls : deps.calls;
}
