/** Rules of budgets: what is spent of one is the usage that counts (docs/budgets.md). */
import { type Row, tenantOf } from '../database.ts';
import type { Facts, Ledger } from '../facts.ts';
import { type Entry, endOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';
import { millisecondsOf } from '../times.ts';
import { batchesOf } from './ledger.ts';

export const BUDGET_RULES: readonly Rule[] = [
  { name: 'what a budget has spent is the usage that counts', check: checkSpent },
];

/** When the last token ends that was admitted while a budget was made. */
const ENDED_MS = 20 * 60_000;

/** Usage that is assigned, by the snapshot. Budgets of keys and customers depend on sessions. */
const BUDGETS = `
  select id, ${tenantOf('tenant_id')} as tenant, room, key_id, customer, spent, created_at,
         greatest(created_at, period_start) as since, coalesce(c.seq, 0) as assigned
    from budgets left join session_cursors c using (tenant_id) where ${tenantOf('tenant_id')} = any ($1)`;

async function checkSpent(facts: Facts, look: Look): Promise<void> {
  const rows = await facts.db.rows(BUDGETS, [[...facts.tenants]]);
  const byTenant = Map.groupBy(rows, ({ tenant }) => tenant!);
  for await (const ledger of facts.ledgers()) {
    for (const budget of byTenant.get(ledger.tenant) ?? []) {
      const { id, room, spent } = budget;
      if (budget.key_id !== null || budget.customer !== null) {
        look.leaveOut(`${id} of ${ledger.tenant} is of a key or a customer`);
        continue;
      }
      const since = millisecondsOf(budget.since!);
      const charges = chargesOf(ledger, BigInt(budget.assigned!)).filter(
        (charge) => charge.at >= since && (room === null || isOf(room!, charge.room)),
      );
      const most = sumOf(charges);
      const certain = millisecondsOf(budget.created_at!) + findDoubt(facts, budget);
      const least = sumOf(charges.filter(({ at }) => at >= certain));
      look.at();
      if (BigInt(spent!) > most || BigInt(spent!) < least)
        look.wrong(`${id} of ${ledger.tenant} has spent ${spent}, its usage cost ${describe(least, most)}`);
    }
  }
}

const describe = (least: bigint, most: bigint) => (least === most ? `${most}` : `${least} to ${most}`);

interface Charge {
  /** Milliseconds, which budgets compare. */
  readonly at: number;
  readonly room: string;
  readonly micros: number;
}

/** What was billed, up to a posting. */
function chargesOf({ postings, records }: Ledger, untilSeq: bigint): readonly Charge[] {
  return batchesOf(postings, records)
    .filter(({ posting }) => posting.kind === 'usage' && posting.seq <= untilSeq)
    .flatMap(({ posting, records: batch }) => {
      const at = millisecondsOf(posting.at);
      return batch.map(({ room = '', total }) => ({ at, room, micros: total.micros }));
    });
}

const sumOf = (charges: readonly Charge[]) => charges.reduce((sum, { micros }) => sum + BigInt(micros), 0n);

/** A star is any characters. */
function isOf(pattern: string, room: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join('.*')}$`).test(room);
}

/**
 * For how many milliseconds after its beginning usage may be missing. What is assigned before the commit does not count. A token that is
 * admitted meanwhile gets its hold some time later, which pays from other budgets until then.
 */
function findDoubt(facts: Facts, { tenant, id, room }: Row): number {
  const changes = facts.of('budget.set').filter(({ args }) => args.tenant === tenant && args.id === id);
  const made = changes.filter(({ outcome }) => outcome === 'ok').map(endOf);
  if (made.length === 0) return 0;
  const [begunUs, madeUs] = [Math.min(...changes.map(({ invokedUs }) => invokedUs)), Math.min(...made)];
  const isMeanwhile = (entry: Entry) => entry.invokedUs <= madeUs && endOf(entry) >= begunUs;
  const isAdmitted = facts
    .of('join', 'mint')
    .some(
      (entry) =>
        entry.args.tenant === tenant && isMeanwhile(entry) && isOf(room ?? '*', entry.args.room ?? ''),
    );
  return isAdmitted ? ENDED_MS : (madeUs - begunUs) / 1_000;
}
