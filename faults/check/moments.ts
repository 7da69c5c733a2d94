/**
 * When each posting can have taken effect, by what clients saw: not before a request was sent that can have caused it, not
 * after an answer that had to know of it.
 */
import type { Ledger, Posting } from './facts.ts';
import { endOf, type Report } from './journal.ts';
import { batchesOf } from './rules/ledger.ts';

/** Both in microseconds of the journal. */
export interface Moment {
  readonly posting: Posting;
  readonly fromUs: number;
  /** Infinity: no answer shows it. */
  readonly untilUs: number;
}

/** In the order of the ledger. */
export function momentsOf({ postings, records }: Ledger, reports: readonly Report[]): readonly Moment[] {
  const sent = new Map<string, number>();
  const told = new Map<string, number>();
  for (const { ids, entry } of reports) {
    for (const id of ids) {
      sent.set(id, Math.min(sent.get(id) ?? Number.POSITIVE_INFINITY, entry.invokedUs));
      if (entry.outcome === 'ok')
        told.set(id, Math.min(told.get(id) ?? Number.POSITIVE_INFINITY, endOf(entry)));
    }
  }
  const ofUsage = new Map<Posting, Moment>();
  for (const { posting, records: batch } of batchesOf(postings, records)) {
    let fromUs = 0;
    let untilUs = Number.POSITIVE_INFINITY;
    for (const { id } of batch) {
      fromUs = Math.max(fromUs, sent.get(id) ?? 0);
      untilUs = Math.min(untilUs, told.get(id) ?? Number.POSITIVE_INFINITY);
    }
    ofUsage.set(posting, { posting, fromUs, untilUs });
  }
  const unseen = (posting: Posting) => ({ posting, fromUs: 0, untilUs: Number.POSITIVE_INFINITY });
  return bound(postings.map((posting) => ofUsage.get(posting) ?? unseen(posting)));
}

/** What no client asked for, such as a payment, happened after what is before it in the ledger, and before what is after it. */
function bound(moments: readonly Moment[]): readonly Moment[] {
  const isSeen = ({ posting }: Moment) => posting.kind === 'usage' || posting.kind === 'unbilled';
  const bounded = [...moments];
  let fromUs = 0;
  for (const [at, moment] of bounded.entries()) {
    if (isSeen(moment)) fromUs = Math.max(fromUs, moment.fromUs);
    else bounded[at] = { ...moment, fromUs };
  }
  let untilUs = Number.POSITIVE_INFINITY;
  for (const [at, moment] of [...bounded.entries()].reverse()) {
    if (isSeen(moment)) untilUs = Math.min(untilUs, moment.untilUs);
    else bounded[at] = { ...moment, untilUs };
  }
  return bounded;
}
