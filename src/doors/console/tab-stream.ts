/** The stream of events for one open page. A page beyond the limit of its tenant stays as it is, and says so. */
import { Failure } from '../../base/failure.ts';
import { countLimitRefusal } from '../../base/tenants/limits.ts';
import type { Answer } from '../consoles/answer.ts';
import type { SessionCall } from './route.ts';

const FULL = 'event: full\ndata: full\n\n';

/** `follow` ends when its signal is aborted, and fails with `too_many_streams` before its first item. */
export function streamToTab(
  { deps, closing }: Pick<SessionCall, 'deps' | 'closing'>,
  follow: (signal: AbortSignal) => AsyncIterable<string>,
): Answer {
  async function* open(gone: AbortSignal): AsyncGenerator<string> {
    try {
      yield* follow(AbortSignal.any([gone, closing]));
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'too_many_streams') throw error;
      countLimitRefusal(deps.metrics, error);
      // An event, because a page learns no status of its stream, and an answer without one is asked for again and again.
      yield FULL;
    }
  }
  return { kind: 'events', open };
}
