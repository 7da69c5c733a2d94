/** Rules of settings that each change replaces as a whole. */
import type { Facts } from '../facts.ts';
import { type Args, type Entry, endOf } from '../journal.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';

export const SETTING_RULES: readonly Rule[] = [
  { name: 'a setting is what the last acknowledged change made it', check: checkSettings },
];

// biome-ignore lint/suspicious/noExplicitAny: each setting has an answer of its own
type Body = any;

/** What a change asks for, and what the service shows of it. */
interface Setting {
  readonly op: string;
  readonly path: (args: Args) => string;
  readonly asked: (args: Args) => readonly unknown[];
  readonly shown: (body: Body) => readonly unknown[];
}

const MICROS_OF_A_CENT = 10_000;

const SETTINGS: readonly Setting[] = [
  {
    op: 'auto_top_up.set',
    path: () => '/v1/billing',
    asked: ({ enabled, below_cents = 0, amount_cents = 0 }) => [
      enabled,
      below_cents * MICROS_OF_A_CENT,
      amount_cents * MICROS_OF_A_CENT,
    ],
    shown: ({ tenant: { auto_top_up } }) => [
      auto_top_up.enabled,
      auto_top_up.below.micros,
      auto_top_up.amount.micros,
    ],
  },
  {
    op: 'alert.set',
    path: () => '/v1/alerts',
    asked: ({ below_micros }) => [below_micros],
    shown: ({ thresholds }) => thresholds.map((each: Body) => each.below_micros),
  },
  {
    op: 'budget.set',
    path: ({ id }) => `/v1/budgets/${id}`,
    asked: ({ limit_micros, hard }) => [limit_micros, hard],
    shown: ({ limit, hard }) => [limit.micros, hard],
  },
];

/** The changes of which each may have been the last one: no acknowledged one began after their end. */
function lastOf(changes: readonly Entry[]): readonly Entry[] {
  const begunUs = Math.max(
    ...changes.filter(({ outcome }) => outcome === 'ok').map(({ invokedUs }) => invokedUs),
  );
  return changes.filter((change) => endOf(change) >= begunUs);
}

async function checkSettings(facts: Facts, look: Look): Promise<void> {
  for (const { op, path, asked, shown } of SETTINGS) {
    const changes = withoutRepetitions(facts.of(op)).filter(({ outcome }) => outcome !== 'refused');
    const bySetting = Map.groupBy(changes, ({ args }) => JSON.stringify([args.tenant, path(args)]));
    for (const same of bySetting.values()) {
      const { args } = same[0]!;
      if (!facts.readable.has(args.tenant!) || !same.some(({ outcome }) => outcome === 'ok')) continue;
      const found = JSON.stringify(shown(await facts.reads.get(args.tenant!, path(args))));
      const possible = new Set(lastOf(same).map((change) => JSON.stringify(asked(change.args))));
      look.at();
      if (!possible.has(found))
        look.wrong(`${path(args)} of ${args.tenant} shows ${found}, and not ${[...possible].join(' or ')}`);
    }
  }
}
