/** Rules of erasures: a name that was erased is nowhere any more. */
import type { Facts } from '../facts.ts';
import { endOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';

export const PEOPLE_RULES: readonly Rule[] = [
  { name: 'no table has the name of an erased person', check: checkTables },
  { name: 'no view has the name of an erased person', check: checkViews },
];

/** A shorter name may be part of something else. */
const NAME_LENGTH_MIN = 8;

/** Names that were erased, and that nothing brought back: no usage, token or other request named the person later. */
function findErased(facts: Facts): ReadonlyMap<string, string> {
  const requests = facts.of('erasure.request');
  const erased = requests.filter(
    ({ outcome, args }) => outcome === 'ok' && (args.username?.length ?? 0) >= NAME_LENGTH_MIN,
  );
  const lastNamed = new Map<string, number>();
  const name = (text: string | undefined, at: number) => {
    if (text !== undefined) lastNamed.set(text, Math.max(lastNamed.get(text) ?? 0, at));
  };
  for (const entry of facts.journal.entries)
    if (entry.op !== 'erasure.request' && entry.outcome !== 'refused')
      name(entry.args.username, endOf(entry));
  const reported = namesOfReports(facts);
  return new Map(
    erased
      .filter(({ args, invokedUs }) => (lastNamed.get(args.username!) ?? 0) < invokedUs)
      .filter(({ args, invokedUs }) => (reported.get(args.username!) ?? 0) < invokedUs)
      .map(({ args }) => [args.username!, args.tenant!]),
  );
}

/** When a batch with the name of a participant was last answered. */
function namesOfReports(facts: Facts): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { tenant, ids, entry } of facts.journal.reports) {
    if (entry.outcome === 'refused') continue;
    const sent = facts.journal.sent.get(tenant);
    for (const id of ids) {
      for (const payload of sent?.get(id) ?? []) {
        const name = (JSON.parse(payload) as (string | null)[]).at(-1);
        if (name) last.set(name, Math.max(last.get(name) ?? 0, endOf(entry)));
      }
    }
  }
  return last;
}

/** PostgreSQL refuses a regular expression of some thousand names, and needs much memory for fewer. */
const NAMES_AT_ONCE = 100;

async function checkTables(facts: Facts, look: Look): Promise<void> {
  const erased = [...findErased(facts).keys()];
  if (erased.length === 0) return;
  const tables = await facts.db.tables();
  for (let at = 0; at < erased.length; at += NAMES_AT_ONCE)
    for (const table of tables) await lookFor(erased.slice(at, at + NAMES_AT_ONCE), table, facts, look);
}

async function lookFor(names: readonly string[], table: string, facts: Facts, look: Look): Promise<void> {
  // The text of a row has bytes as hex.
  const texts = new Map(
    names.flatMap((name) => [name, Buffer.from(name).toString('hex')].map((text) => [text, name])),
  );
  const pattern = `(${[...texts.keys()].map((text) => text.replaceAll(/[^\w-]/g, '\\$&')).join('|')})`;
  const found = await facts.db.rows(
    `select (regexp_match(t::text, $1))[1] as text, count(*) as count from ${table} t
      where t::text ~ $1 group by 1`,
    [pattern],
  );
  look.at(names.length);
  for (const { text, count } of found) look.wrong(`${texts.get(text!)} is in ${count} rows of ${table}`);
}

async function checkViews(facts: Facts, look: Look): Promise<void> {
  const byTenant = Map.groupBy(findErased(facts), ([, tenant]) => tenant);
  for (const tenant of facts.readable) {
    const names = (byTenant.get(tenant) ?? []).map(([name]) => name);
    if (names.length === 0) continue;
    const views: Readonly<Record<string, unknown>> = {
      'the ledger': await facts.entriesOf(tenant),
      'the list of records': await facts.recordsOf(tenant),
      'the sums by participant': await facts.reads.get(
        tenant,
        '/v1/usage/summary?group_by=participant&limit=1000',
      ),
      'the list of sessions': await facts.reads.get(tenant, '/v1/sessions?limit=1000'),
      'the list of events': await facts.reads.get(tenant, '/v1/events?limit=1000'),
    };
    for (const [view, content] of Object.entries(views)) {
      const text = JSON.stringify(content);
      look.at(names.length);
      for (const name of names) if (text.includes(name)) look.wrong(`${view} of ${tenant} has ${name}`);
    }
  }
}
