/**
 * Rules of the order in which a ledger took effect, as clients saw it.
 *
 * The numbers of postings are the witness, so each rule is one pass over the ledger, without a search.
 */
import type { Facts, Ledger } from '../facts.ts';
import { type Entry, microsOf } from '../journal.ts';
import { type Moment, momentsOf } from '../moments.ts';
import type { Look, Rule } from '../rule.ts';

export const BALANCE_RULES: readonly Rule[] = [
  { name: 'charges are in the order in which they were acknowledged', check: checkOrder },
  { name: 'a balance that was read was the balance at that time', check: checkReads },
  { name: 'an answer admits if there is credit', check: checkAdmitted },
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
    for (const entry of reads.get(ledger.tenant) ?? []) {
      const { answer } = entry;
      const closing = answer?.statement?.so_far ? answer.statement.closing : undefined;
      const balance = microsOf(answer?.balance ?? closing);
      if (balance === undefined) continue;
      const possible = balancesDuring(all, entry);
      look.at();
      if (!possible.includes(balance))
        look.wrong(
          `${ledger.tenant} read ${balance}, between ${possible[0] ?? 0n} and ${possible.at(-1) ?? 0n}`,
        );
    }
  }
}

/** Those that a request may have seen: they have everything that was told before it, and nothing that was sent after its answer. */
function balancesDuring(all: readonly Moment[], { invokedUs, returnedUs }: Entry): readonly bigint[] {
  const first = all.findLastIndex(({ untilUs }) => untilUs < invokedUs);
  const last = all.findLastIndex(({ fromUs }) => fromUs <= (returnedUs ?? Number.POSITIVE_INFINITY));
  const possible = all.slice(Math.max(first, 0), last + 1).map(({ posting }) => posting.balance);
  return first === -1 ? [0n, ...possible] : possible;
}

/** Specification 7.1 and 7.3. */
const NO_CREDIT = /^(insufficient credit|payment required)/;

/** `undefined`: it says nothing of credit. */
function admits({ op, outcome, answer }: Entry): boolean | undefined {
  if (op !== 'join' && op !== 'mint') return answer?.admitted;
  if (outcome === 'ok') return true;
  return NO_CREDIT.test(answer?.error ?? '') ? false : undefined;
}

/** Specification 3.4. Operators of campaigns suspend no tenant, and exempt none that has paid. */
async function checkAdmitted(facts: Facts, look: Look): Promise<void> {
  const reports = facts.journal.reports.map(({ tenant, entry }) => ({
    ...entry,
    args: { ...entry.args, tenant },
  }));
  const told = Map.groupBy(
    [...reports, ...facts.of('billing.read', 'join', 'mint')].filter((entry) => admits(entry) !== undefined),
    ({ args }) => args.tenant!,
  );
  for await (const { ledger, moments: all } of moments(facts)) {
    for (const entry of told.get(ledger.tenant) ?? []) {
      const balance = microsOf(entry.answer?.balance);
      const possible = balance === undefined ? balancesDuring(all, entry) : [balance];
      const isAdmitted = admits(entry);
      look.at();
      if (!possible.some((each) => each > 0n === isAdmitted))
        look.wrong(
          `${entry.op} of ${ledger.tenant} was ${isAdmitted ? '' : 'not '}admitted, with ${possible.join(' or ')}`,
        );
    }
  }
}
