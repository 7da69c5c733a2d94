/**
 * The checker of a campaign of faults: reads what clients and the outside saw, the database at rest, and every view of it.
 *
 * It is written from the specification and the documents, and imports nothing of `src`. Amounts are whole numbers of any
 * size, prices exact fractions. Each rule is a row of a table in `rules`.
 */
import { Database } from './database.ts';
import { Facts } from './facts.ts';
import { type Entry, readJournal } from './journal.ts';
import { locate } from './locate.ts';
import { type Rule, runRules, type Verdict } from './rule.ts';
import { ACCESS_RULES } from './rules/access.ts';
import { BALANCE_RULES } from './rules/balances.ts';
import { BOOK_RULES } from './rules/books.ts';
import { BUDGET_RULES } from './rules/budgets.ts';
import { EVENT_RULES } from './rules/events.ts';
import { LEDGER_RULES } from './rules/ledger.ts';
import { LINEARIZABILITY_RULES } from './rules/linearizable.ts';
import { OPEN_END_RULES } from './rules/open-ends.ts';
import { PEOPLE_RULES } from './rules/people.ts';
import { PRICE_RULES } from './rules/prices.ts';
import { PROGRESS_RULES } from './rules/progress.ts';
import { PROVIDER_RULES } from './rules/provider.ts';
import { PUSH_RULES } from './rules/pushes.ts';
import { REVOCATION_RULES } from './rules/revocations.ts';
import { SECRET_RULES } from './rules/secrets.ts';
import { SETTING_RULES } from './rules/settings.ts';
import { STATEMENT_RULES } from './rules/statements.ts';
import { STORED_RULES } from './rules/stored.ts';
import { TOP_UP_RULES } from './rules/top-ups.ts';
import { USAGE_RULES } from './rules/usage.ts';
import { VIEW_RULES } from './rules/views.ts';
import { WATCHDOG_RULES } from './rules/watchdogs.ts';
import { WEBHOOK_RULES } from './rules/webhooks.ts';
import type { Reads } from './views.ts';

/** What is left of a campaign once it has settled. */
export interface Campaign {
  /** The path of the journal, which is closed, or its entries. */
  readonly journal: string | Iterable<Entry>;
  /** The path by which readers find the journal later. Without it, problems name no lines of it. */
  readonly keptAs?: string;
  /** Opens the database as its owner, without a proxy that faults are injected in. */
  readonly databaseUrl: string;
  /** What the service answers now. */
  readonly reads: Reads;
}

const JOURNAL_RULE: Rule = {
  name: 'each line of the journal can be read',
  check: ({ journal }, look) => {
    look.at(journal.lines);
    for (const line of journal.unreadable) look.wrong(`line ${line}`);
  },
};

export const ALL_RULES: readonly Rule[] = [
  JOURNAL_RULE,
  ...PROGRESS_RULES,
  ...USAGE_RULES,
  ...LEDGER_RULES,
  ...PRICE_RULES,
  ...BOOK_RULES,
  ...BALANCE_RULES,
  ...VIEW_RULES,
  ...STATEMENT_RULES,
  ...PROVIDER_RULES,
  ...TOP_UP_RULES,
  ...OPEN_END_RULES,
  ...BUDGET_RULES,
  ...STORED_RULES,
  ...SETTING_RULES,
  ...ACCESS_RULES,
  ...REVOCATION_RULES,
  ...PUSH_RULES,
  ...EVENT_RULES,
  ...WEBHOOK_RULES,
  ...WATCHDOG_RULES,
  ...PEOPLE_RULES,
  ...SECRET_RULES,
  ...LINEARIZABILITY_RULES,
];

/** How often it looks again if something went on while it looked. */
const LOOKS_MAX = 10;

/**
 * Needs a campaign that has settled. Something may still happen by itself, such as the end of a grant: the database is one
 * snapshot, and views are read later. So what is found then is looked for once more.
 */
export async function checkCampaign(
  campaign: Campaign,
  rules: readonly Rule[] = ALL_RULES,
  tell = (_what: string) => {},
): Promise<Verdict> {
  const { journal, keptAs } = campaign;
  const verdict = await look(campaign, rules, tell);
  if (typeof journal !== 'string' || keptAs === undefined) return verdict;
  tell('looking problems up in the journal');
  return { ...verdict, problems: await locate(verdict.problems, journal, keptAs) };
}

async function look(
  { journal, databaseUrl, reads }: Campaign,
  rules: readonly Rule[],
  tell: (what: string) => void,
): Promise<Verdict> {
  const read = await readJournal(journal, (lines) => tell(`line ${lines} of the journal`));
  const at = read.entries.findLast(({ op }) => op === 'settled')?.args.at;
  for (let looks = 1; ; looks += 1) {
    const db = await Database.open(databaseUrl, at);
    try {
      const before = await findNewest(db);
      const verdict = await runRules(rules, new Facts(read, db, reads), tell);
      if (verdict.problems.length === 0 || looks === LOOKS_MAX) return verdict;
      if ((await findNewestNow(databaseUrl)) === before) return verdict;
    } finally {
      await db.close();
    }
  }
}

/** Differs whenever something has happened in between. */
async function findNewest(db: Database): Promise<string> {
  const [row] = await db.rows(
    `select (select coalesce(sum(last_seq), 0) from accounts) || ' ' || (select coalesce(sum(last_seq), 0) from event_streams) as newest`,
  );
  return row!.newest!;
}

async function findNewestNow(url: string): Promise<string> {
  const db = await Database.open(url);
  try {
    return await findNewest(db);
  } finally {
    await db.close();
  }
}
