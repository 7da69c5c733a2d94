/**
 * Rules of double entry: what a tenant's ledger has of each kind stands in another book, too, with the opposite sign.
 *
 * The books are the records (revenue), payments and what was taken back of them (the provider's clearing account), grants, and
 * corrections. Adjustments have no book in the database: the campaign's journal is theirs.
 */
import { tenantOf } from '../database.ts';
import type { Facts, Ledger } from '../facts.ts';
import type { Entry } from '../journal.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';

export const BOOK_RULES: readonly Rule[] = [
  { name: 'each side of the ledger is in another book', check: checkBooks },
  { name: 'the books add up to zero', check: checkZero },
  { name: 'adjustments are those that were made', check: checkAdjustments },
];

/** Kinds of postings by the book that has their other side. */
const BOOKS: Readonly<Record<string, { readonly kinds: readonly string[]; readonly sql?: string }>> = {
  revenue: { kinds: ['usage', 'unbilled'] },
  payments: {
    kinds: ['top_up', 'auto_top_up'],
    sql: 'select -sum(credited) as sum from payments where TENANT',
  },
  reversals: {
    kinds: ['refund', 'dispute'],
    sql: 'select sum(reversed) as sum from payments where TENANT',
  },
  grants: {
    kinds: ['grant', 'grant_expired', 'grant_voided'],
    sql: 'select sum(forfeited - amount) as sum from grants where TENANT',
  },
  corrections: {
    kinds: ['correction'],
    sql: 'select -sum(amount) as sum from corrections where TENANT',
  },
};

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

async function otherSideOf(facts: Facts, { tenant, records }: Ledger, sql?: string): Promise<bigint> {
  if (sql === undefined)
    return sumOf(records.filter(({ unbilled }) => !unbilled).map(({ total }) => BigInt(total.micros)));
  const [row] = await facts.db.rows(sql.replace('TENANT', `${tenantOf('tenant_id')} = $1`), [tenant]);
  return BigInt(row?.sum ?? 0);
}

const ofKinds = ({ postings }: Ledger, kinds: readonly string[]) =>
  sumOf(postings.filter(({ kind }) => kinds.includes(kind)).map(({ amount }) => amount));

async function checkBooks(facts: Facts, look: Look): Promise<void> {
  for await (const ledger of facts.ledgers()) {
    for (const [book, { kinds, sql }] of Object.entries(BOOKS)) {
      const [here, there] = [ofKinds(ledger, kinds), await otherSideOf(facts, ledger, sql)];
      look.at();
      if (here + there !== 0n)
        look.wrong(`${ledger.tenant} has ${here} of ${kinds.join(' and ')}, ${book} has ${there}`);
    }
  }
}

/** Tenants' credit and all other books. */
async function checkZero(facts: Facts, look: Look): Promise<void> {
  let sum = 0n;
  for await (const ledger of facts.ledgers()) {
    sum += ledger.balance - ofKinds(ledger, ['adjustment']);
    for (const { sql } of Object.values(BOOKS)) sum += await otherSideOf(facts, ledger, sql);
    look.at();
  }
  if (sum !== 0n) look.wrong(`they add up to ${sum}`);
}

const adjustmentOf = ({ args }: Entry) => `${args.amount} for "${args.reason}"`;

/** Adjustments of which no outcome is known may be there or not. */
async function checkAdjustments(facts: Facts, look: Look): Promise<void> {
  const made = Map.groupBy(withoutRepetitions(facts.of('credit.adjusted')), ({ args }) => args.tenant!);
  for await (const ledger of facts.ledgers()) {
    const entries = (made.get(ledger.tenant) ?? []).filter(({ outcome }) => outcome !== 'refused');
    const certain = entries.filter(({ outcome }) => outcome === 'ok').map(adjustmentOf);
    const open = entries.filter(({ outcome }) => outcome === 'unknown').map(adjustmentOf);
    const found = ledger.postings
      .filter(({ kind }) => kind === 'adjustment')
      .map(({ amount, detail }) => `${amount} for "${detail}"`);
    look.at(entries.length);
    const missing = without(certain, found);
    const strange = without(without(found, certain), open);
    if (missing.length > 0) look.wrong(`${ledger.tenant} lacks ${missing.join(' and ')}`);
    if (strange.length > 0)
      look.wrong(`${ledger.tenant} has ${strange.join(' and ')}, which were never made`);
  }
}

/** Takes out as many of equal texts as there are in `taken`. */
function without(all: readonly string[], taken: readonly string[]): string[] {
  const left = [...taken];
  return all.filter((each) => {
    const at = left.indexOf(each);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
