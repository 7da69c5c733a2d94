/** A change that is repeated with its idempotency key takes effect once, so its requests are one operation. */
import type { Entry } from './journal.ts';

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
    const { invokedUs } = requests[0]!;
    const known = requests.filter(({ outcome }) => outcome !== 'unknown');
    const answer = known.find(({ outcome }) => outcome === 'ok') ?? known[0];
    if (!answer) return { ...requests[0]!, returnedUs: null };
    return answer.outcome === 'ok' ? { ...answer, invokedUs } : answer;
  });
}
