/** Rules of statements: each month that a tenant has is stated as its ledger has it. Campaigns set no time zones, so months are UTC's. */
import { NOW } from '../database.ts';
import type { Facts, Ledger, Posting } from '../facts.ts';
import type { Look, Rule } from '../rule.ts';
import type { Measures } from '../views.ts';

export const STATEMENT_RULES: readonly Rule[] = [
  { name: 'the statement of each month is the ledger', check: checkStatements },
  { name: 'the list of statements has each month that is over', check: checkList },
];

interface Amount {
  readonly micros: number;
}

interface Movements {
  readonly entries: readonly unknown[];
  readonly others?: { readonly count: number };
  readonly sum: Amount;
}

interface Statement {
  readonly tenant: { readonly id: string };
  readonly month: string;
  readonly from: string;
  readonly to: string;
  readonly opening: Amount;
  readonly payments: Movements;
  readonly reversals: Movements;
  readonly adjustments: Movements;
  readonly grants?: Movements;
  readonly usage: { readonly sum: Measures };
  readonly closing: Amount;
}

/** Parts of a statement, and the kinds of their postings. */
const PARTS = {
  payments: ['top_up', 'auto_top_up'],
  reversals: ['refund', 'dispute'],
  adjustments: ['adjustment', 'correction'],
  grants: ['grant', 'grant_expired', 'grant_voided'],
} as const;

/** `2026-11`. */
const monthOf = ({ at }: Posting) => at.slice(0, 7);

function nextOf(month: string): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year!, number!, 1)).toISOString().slice(0, 7);
}

/** From that of the first posting to the present one. */
function monthsOf({ postings }: Ledger, now: string): readonly string[] {
  const months: string[] = [];
  for (let month = postings[0] ? monthOf(postings[0]) : now; month <= now; month = nextOf(month))
    months.push(month);
  return months;
}

const balanceBefore = ({ postings }: Ledger, month: string) =>
  postings.findLast((posting) => monthOf(posting) < month)?.balance ?? 0n;

async function readMonth(facts: Facts, minutesAgo: number): Promise<string> {
  const [row] = await facts.db.rows(
    `select to_char(${NOW} - make_interval(mins => ${minutesAgo}), 'YYYY-MM') as month`,
  );
  return row!.month!;
}

async function* readable(facts: Facts): AsyncGenerator<Ledger> {
  for (const tenant of facts.readable) {
    const ledger = await facts.ledgerOf(tenant);
    if (ledger) yield ledger;
  }
}

async function checkStatements(facts: Facts, look: Look): Promise<void> {
  const now = await readMonth(facts, 0);
  for await (const ledger of readable(facts)) {
    for (const month of monthsOf(ledger, now)) {
      const path = `/v1/statements/${month}?so_far=true`;
      const { statement } = (await facts.reads.get(ledger.tenant, path)) as { statement: Statement };
      look.at();
      for (const [what, says, is] of compare(statement, ledger, month))
        if (says !== is) look.wrong(`${what} of ${ledger.tenant} in ${month}: ${says}, and is ${is}`);
    }
  }
}

/** What a statement says, and what the ledger does. */
function compare(
  statement: Statement,
  ledger: Ledger,
  month: string,
): readonly (readonly [string, unknown, unknown])[] {
  const { tenant, from, to, opening, usage, closing } = statement;
  const next = nextOf(month);
  const own = ledger.postings.filter((posting) => monthOf(posting) === month);
  const parts = Object.entries(PARTS).map(([part, kinds]) => {
    const postings = own.filter(({ kind }) => (kinds as readonly string[]).includes(kind));
    const { entries = [], others, sum } = statement[part as keyof typeof PARTS] ?? {};
    const says = `${entries.length + (others?.count ?? 0)} of ${sum?.micros ?? 0}`;
    return [part, says, `${postings.length} of ${sumOf(postings)}`] as const;
  });
  const usages = own.filter(({ kind }) => kind === 'usage' || kind === 'unbilled');
  const records = usages.reduce((sum, posting) => sum + posting.records, 0);
  return [
    ['the tenant', tenant.id, ledger.tenant],
    ['the month', statement.month, month],
    ['the time', `${from} ${to}`, `${month}-01T00:00:00.000Z ${next}-01T00:00:00.000Z`],
    ['the opening', BigInt(opening.micros), balanceBefore(ledger, month)],
    ...parts,
    ['the usage', `${usage.sum.records} of ${-usage.sum.total.micros}`, `${records} of ${sumOf(usages)}`],
    ['the closing', BigInt(closing.micros), balanceBefore(ledger, next)],
  ];
}

const sumOf = (postings: readonly Posting[]) => postings.reduce((sum, { amount }) => sum + amount, 0n);

interface Listed {
  readonly month: string;
  readonly opening: Amount;
  readonly closing: Amount;
}

/** It has those in which something changed the balance, from a quarter of an hour after their end on. */
async function checkList(facts: Facts, look: Look): Promise<void> {
  const ready = await readMonth(facts, 15);
  for await (const ledger of readable(facts)) {
    const { statements } = (await facts.reads.get(ledger.tenant, '/v1/statements')) as {
      statements: readonly Listed[];
    };
    const months = monthsOf(ledger, ready).filter(
      (month) => month < ready && ledger.postings.some((posting) => monthOf(posting) === month),
    );
    const due = months.map(
      (month) => `${month} ${balanceBefore(ledger, month)} ${balanceBefore(ledger, nextOf(month))}`,
    );
    // Another month may have ended since the snapshot.
    const listed = statements
      .filter(({ month }) => month < ready)
      .map(({ month, opening, closing }) => `${month} ${opening.micros} ${closing.micros}`);
    look.at();
    if (listed.join() !== due.toReversed().join())
      look.wrong(`${ledger.tenant} has ${due.toReversed().join()}, and is shown ${listed.join()}`);
  }
}
