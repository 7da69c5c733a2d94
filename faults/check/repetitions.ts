/** A change that is repeated with its idempotency key takes effect once, so its requests are one operation. */
import type { Entry } from './journal.ts';

/** Refusals of any request, whatever it asks for (408, 429): they tell nothing of one before them. */
const TELLS_NOTHING = new Set<unknown>([408, 429, 'RESOURCE_EXHAUSTED', 8]);

/**
 * One entry for each change. Of a success, it lasts from the first request to the answer, because each of them may have had the
 * effect. A refusal says that none of them had it, and is that of the last one.
 */
export function withoutRepetitions(entries: readonly Entry[]): readonly Entry[] {
  const changes = Map.groupBy(entries, (entry) => {
    const { tenant, idempotency } = entry.args;
    return idempotency === undefined ? entry : JSON.stringify([entry.op, tenant, idempotency]);
  });
  return [...changes.values()].map((requests) => {
    const success = requests.find(({ outcome }) => outcome === 'ok');
    if (success) return { ...success, invokedUs: requests[0]!.invokedUs };
    const open = requests.find(({ outcome }) => outcome === 'unknown');
    const refusal = requests.find(
      ({ outcome, status }) => outcome === 'refused' && !(open && TELLS_NOTHING.has(status)),
    );
    return refusal ?? { ...open!, returnedUs: null };
  });
}
