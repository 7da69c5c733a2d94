/**
 * Rules of the order in which a ledger took effect, as clients saw it.
 *
 * The numbers of postings are the witness, so each rule is one pass over the ledger, without a search.
 */
import type { Facts, Ledger } from '../facts.ts';
import { microsOf } from '../journal.ts';
import { type Moment, momentsOf } from '../moments.ts';
import type { Look, Rule } from '../rule.ts';

export const BALANCE_RULES: readonly Rule[] = [
  { name: 'charges are in the order in which they were acknowledged', check: checkOrder },
  { name: 'a balance that was read was the balance at that time', check: checkReads },
];

async function* moments(facts: Facts): AsyncGenerator<{ ledger: Ledger; moments: readonly Moment[] }> {
  const reports = Map.groupBy(facts.journal.reports, ({ tenant }) => tenant);
  for await (const ledger of facts.ledgers())
    yield { ledger, moments: momentsOf(ledger, reports.get(ledger.tenant) ?? []) };
}

/** A charge that was acknowledged before another was sent has the lower number. */
async function checkOrder(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, moments: all } of moments(facts)) {
    let sentLast: Moment | undefined;
    for (const moment of all) {
      look.at();
      if (sentLast && moment.untilUs < sentLast.fromUs)
        look.wrong(
          `${moment.posting.seq} of ${ledger.tenant} was acknowledged before ${sentLast.posting.seq} was sent`,
        );
      if (!sentLast || moment.fromUs > sentLast.fromUs) sentLast = moment;
    }
  }
}

async function checkReads(facts: Facts, look: Look): Promise<void> {
  const reads = Map.groupBy(
    facts.of('billing.read', 'statement.read').filter(({ outcome }) => outcome === 'ok'),
    ({ args }) => args.tenant!,
  );
  for await (const { ledger, moments: all } of moments(facts)) {
    for (const { invokedUs, returnedUs, answer } of reads.get(ledger.tenant) ?? []) {
      const closing = answer?.statement?.so_far ? answer.statement.closing : undefined;
      const balance = microsOf(answer?.balance ?? closing);
      if (balance === undefined) continue;
      // Everything that was told before the read is in it, and nothing that was sent after it.
      const first = all.findLastIndex(({ untilUs }) => untilUs < invokedUs);
      const last = all.findLastIndex(({ fromUs }) => fromUs <= (returnedUs ?? Number.POSITIVE_INFINITY));
      const possible = all.slice(Math.max(first, 0), last + 1).map(({ posting }) => posting.balance);
      look.at();
      if (!possible.includes(balance) && !(first === -1 && balance === 0n))
        look.wrong(
          `${ledger.tenant} read ${balance}, between ${possible[0] ?? 0n} and ${possible.at(-1) ?? 0n}`,
        );
    }
  }
}
