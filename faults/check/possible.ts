/** What a setting can have been at a time, by the changes of it that clients made. */
import { type Entry, endOf } from './journal.ts';

/**
 * The changes of which each can have been the last one at some moment from `fromUs` to `untilUs`; `undefined` among them: none was made
 * yet. A change that began after another one had ended comes after it, and one that ended before that time was made by then.
 */
export function possibleAt(
  changes: readonly Entry[],
  fromUs: number,
  untilUs: number,
): readonly (Entry | undefined)[] {
  const certain = changes.filter((change) => change.outcome === 'ok' && endOf(change) < fromUs);
  const newestUs = Math.max(Number.NEGATIVE_INFINITY, ...certain.map(({ invokedUs }) => invokedUs));
  const possible = changes.filter(
    (change) => change.outcome !== 'refused' && change.invokedUs <= untilUs && endOf(change) >= newestUs,
  );
  return certain.length === 0 ? [undefined, ...possible] : possible;
}
