/** Rules of work: what was begun has ended once a campaign has settled. Each query selects what is still open, or was for too long. */
import { NOW, tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import type { Look, Rule } from '../rule.ts';

interface OpenEnd {
  readonly name: string;
  /** How many things there are, open or not. */
  readonly all: string;
  /** One text a row. */
  readonly open: string;
}

const OPEN_ENDS: readonly OpenEnd[] = [
  {
    name: 'no top-up is open for ever',
    all: 'select count(*) as count from top_up_attempts',
    open: `select id || ' of ' || ${tenantOf('tenant_id')} || ' is ' || state || ' since ' || created_at as text
             from top_up_attempts where finished_at is null`,
  },
  {
    // By times of one clock: an attempt is made after the one before has ended, and sent by a later transaction.
    name: 'a tenant has one open top-up at the most',
    all: 'select count(*) as count from top_up_attempts',
    open: `select a.id || ' of ' || ${tenantOf('a.tenant_id')} || ' was sent before ' || b.id || ' had ended' as text
             from top_up_attempts a join top_up_attempts b on b.tenant_id = a.tenant_id and b.id <> a.id
            where a.first_sent_at between b.first_sent_at and coalesce(b.finished_at, 'infinity')`,
  },
  {
    // Relays may report for 15 minutes after a token; the job that gives back runs each minute.
    name: 'no hold of a budget is kept for ever',
    all: 'select count(*) as count from budget_holds',
    open: `select room || ' ' || device || ' of ' || ${tenantOf('tenant_id')} || ' until ' || until as text
             from budget_holds where until < ${NOW} - interval '20 minutes'`,
  },
  {
    name: 'what a budget holds are its holds',
    all: 'select count(*) as count from budgets',
    open: `select b.id || ' of ' || ${tenantOf('b.tenant_id')} || ' holds ' || b.held || ', its holds are ' || coalesce(h.sum, 0) as text
             from budgets b
             left join lateral (select sum(ceil(rate::numeric * seconds / 60000)) as sum from budget_holds h
                                 where h.tenant_id = b.tenant_id and b.uid = any (h.budgets)) h on true
            where b.held <> coalesce(h.sum, 0)`,
  },
  {
    name: 'a hard budget has left what is neither spent nor held',
    all: 'select count(*) as count from budgets where hard',
    open: `select id || ' of ' || ${tenantOf('tenant_id')} || ' has ' || free || ' left of ' || max || ' less ' || spent || ' and ' || held as text
             from budgets where hard and free <> greatest(0, max - spent - held)`,
  },
  {
    name: 'no event waits for its number',
    all: 'select coalesce(sum(last_seq), 0) as count from event_streams',
    open: `select type || ' of ' || ${tenantOf('tenant_id')} || ' at ' || at as text from unnumbered_events`,
  },
  {
    name: 'no notice of the provider waits',
    all: 'select count(*) as count from provider_events',
    open: `select id || ' is ' || outcome as text from provider_events where outcome = 'failing'`,
  },
  {
    name: 'no erasure is under way',
    all: 'select count(*) as count from erasures',
    open: `select id || ' of ' || ${tenantOf('tenant_id')} || ' is ' || state as text from erasures where state <> 'done'`,
  },
];

export const OPEN_END_RULES: readonly Rule[] = OPEN_ENDS.map(({ name, all, open }) => ({
  name,
  check: async (facts: Facts, look: Look) => {
    const [row] = await facts.db.rows(all);
    look.at(Number(row?.count ?? 0));
    for (const { text } of await facts.db.rows(open)) look.wrong(text!);
  },
}));
