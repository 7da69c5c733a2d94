/** Rules of progress: a campaign in which nothing is answered shows nothing, however many faults it had. */
import type { Facts } from '../facts.ts';
import { endOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';

export const PROGRESS_RULES: readonly Rule[] = [
  { name: 'usage is acknowledged again soon after each fault', check: checkSilence },
];

/** The longest that a fault and what it leaves may take. PostgreSQL alone has 150 seconds to come back. */
const SILENT_US = 240_000_000;

/** While batches are sent, some are acknowledged. */
function checkSilence({ journal: { reports } }: Facts, look: Look): void {
  const times = reports
    .flatMap(({ entry }) => [
      { atUs: entry.invokedUs, isAnswer: false },
      ...(entry.outcome === 'ok' ? [{ atUs: endOf(entry), isAnswer: true }] : []),
    ])
    .toSorted((a, b) => a.atUs - b.atUs);
  let answeredUs = times[0]?.atUs ?? 0;
  let isTold = false;
  for (const { atUs, isAnswer } of times) {
    if (isAnswer) look.at();
    const seconds = Math.round((atUs - answeredUs) / 1_000_000);
    if (atUs - answeredUs > SILENT_US && !isTold) {
      isTold = true;
      look.wrong(`no batch was acknowledged from ${answeredUs} us on, for ${seconds} s and more`);
    }
    if (isAnswer) [answeredUs, isTold] = [atUs, false];
  }
}
