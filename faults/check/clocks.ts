/** Faults that move a clock. What ends by the clock of the database may end earlier or later meanwhile. */
import type { Facts } from './facts.ts';
import { endOf } from './journal.ts';

/** Whether a clock was wrong at some time from `fromUs` to `untilUs`. */
export function movesClocks(facts: Facts, fromUs: number, untilUs: number): boolean {
  return facts
    .of('fault')
    .some(
      (fault) =>
        /clock|time/i.test(fault.args.name ?? '') &&
        (fault.args.begunUs ?? fault.invokedUs) <= untilUs &&
        endOf(fault) >= fromUs,
    );
}
