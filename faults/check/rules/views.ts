/** Rules of views: whatever shows the ledger shows the same. */
import { NOW } from '../database.ts';
import type { Facts, Ledger } from '../facts.ts';
import { payloadOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';
import {
  type LedgerEntry,
  type ListedRecord,
  type Measures,
  type Period,
  readCsv,
  readSummary,
} from '../views.ts';

export const VIEW_RULES: readonly Rule[] = [
  { name: 'the pages of the ledger are the postings', check: checkLedgerPages },
  { name: 'the list of records is the usage of the ledger', check: checkRecordsList },
  { name: 'the rows of records are in the list of records', check: checkRows },
  { name: 'sums of usage are those of the records', check: checkSums },
  { name: 'the billing page is the ledger', check: checkBilling },
  { name: 'the CSV of the ledger is its pages', check: checkCsv },
  { name: 'the CSV of the console is the pages of the ledger', check: checkConsole },
];

async function* readable(facts: Facts): AsyncGenerator<{ ledger: Ledger; entries: readonly LedgerEntry[] }> {
  for (const tenant of facts.readable) {
    const [ledger, entries] = [await facts.ledgerOf(tenant), await facts.entriesOf(tenant)];
    if (ledger && entries) yield { ledger, entries };
  }
}

async function checkLedgerPages(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, entries } of readable(facts)) {
    const bySeq = Map.groupBy(entries, ({ posting_seq }) => BigInt(posting_seq));
    for (const posting of ledger.postings) {
      const shown = bySeq.get(posting.seq) ?? [];
      bySeq.delete(posting.seq);
      const sum = shown.reduce((sum, { amount }) => sum + BigInt(amount.micros), 0n);
      const where = `${posting.seq} of ${ledger.tenant}`;
      look.at();
      if (sum !== posting.amount) look.wrong(`${where} is ${posting.amount}, and shown as ${sum}`);
      for (const { kind, balance_after, payment } of shown) {
        if (BigInt(balance_after.micros) !== posting.balance)
          look.wrong(`${where} leaves ${posting.balance}, and shows ${balance_after.micros}`);
        if (kind !== posting.kind || (payment ?? null) !== posting.payment)
          look.wrong(`${where} is ${posting.kind} ${posting.payment}, and shown as ${kind} ${payment}`);
      }
    }
    for (const seq of bySeq.keys()) look.wrong(`${seq} of ${ledger.tenant} is shown, and not there`);
  }
}

/** What both the ledger and the list of records show of a record. */
const shownOf = ({ id, total, capped, room = '', participant, at }: ListedRecord) =>
  JSON.stringify([id, -total.micros, capped, room, participant ?? null, at]);

const entryOf = ({ id, amount, capped, reference, detail, at }: LedgerEntry) =>
  JSON.stringify([id, amount.micros, capped, reference, detail ?? null, at]);

async function checkRecordsList(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, entries } of readable(facts)) {
    const records = ledger.records.filter(({ unbilled }) => !unbilled).map(shownOf);
    const charges = entries.filter(({ kind }) => kind === 'usage').map(entryOf);
    look.at(records.length);
    if (records.length !== charges.length)
      look.wrong(`${ledger.tenant} has ${records.length} records, and ${charges.length} charges`);
    const different = records.findIndex((record, at) => record !== charges[at]);
    if (different !== -1)
      look.wrong(
        `${ledger.tenant} has ${records[different]} in the list, ${charges[different]} in the ledger`,
      );
  }
}

async function checkRows(facts: Facts, look: Look): Promise<void> {
  for (const tenant of facts.readable) {
    const listed = new Map((await facts.recordsOf(tenant))?.map((record) => [record.id, record]));
    for (const { record } of await facts.rowsOf(tenant)) {
      const shown = listed.get(record.id);
      look.at();
      if (!shown) look.wrong(`${record.id} of ${tenant} is not listed`);
      else if (payloadOf(shown) !== payloadOf(record) || shown.total.micros !== record.total.micros)
        look.wrong(
          `${record.id} of ${tenant} is ${payloadOf(record)}, and listed as ${payloadOf(shown)}, for ${shown.total.micros}`,
        );
    }
  }
}

/** Groupings, and what a record is in. Sums of participants are those of sessions, so records of one may be elsewhere. */
const GROUPINGS: Readonly<Record<string, ((record: ListedRecord) => string) | undefined>> = {
  room: ({ room }) => room ?? '',
  role: ({ role }) => role,
  tier: ({ tier }) => tier,
  hour: ({ at }) => `${at.slice(0, 13)}:00:00.000Z`,
  'room,role,tier': ({ room, role, tier }) => JSON.stringify([room ?? '', role, tier]),
  day: undefined,
  participant: undefined,
};

/** The days of a campaign, which may go on from one month to the next. */
async function daysOf(facts: Facts): Promise<Period> {
  const day = (days: number) => `to_char(${NOW} + interval '${days} days', 'YYYY-MM-DD')`;
  const [row] = await facts.db.rows(`select ${day(-3)} as from, ${day(1)} as to`);
  return { from: row!.from!, to: row!.to! };
}

async function checkSums(facts: Facts, look: Look): Promise<void> {
  const days = await daysOf(facts);
  for await (const { ledger } of readable(facts)) {
    for (const [groupBy, groupOf] of Object.entries(GROUPINGS)) {
      const { rows, sum, unassigned } = await readSummary(facts.reads, ledger.tenant, groupBy, days);
      const where = `${ledger.tenant} by ${groupBy}`;
      look.at(rows.length);
      compare(`${where}, all`, measure(ledger.records), measureRow(sum), look);
      const parts = [...rows, ...(unassigned ? [unassigned] : [])].map(measureRow);
      compare(`${where}, the rows`, measureRow(sum), add(parts), look);
      if (!groupOf) continue;
      const groups = Map.groupBy(ledger.records, groupOf);
      const names = groupBy.split(',');
      for (const row of rows) {
        const values = names.map((name) => row[name] as string);
        const name = values.length === 1 ? values[0]! : JSON.stringify(values);
        compare(`${where}, ${name}`, measure(groups.get(name) ?? []), measureRow(row), look);
        groups.delete(name);
      }
      for (const name of groups.keys()) look.wrong(`${where} lacks ${name}`);
    }
  }
}

/** Records, seconds, bytes out and in, what was charged, and what was not. */
type Sums = readonly [bigint, bigint, bigint, bigint, bigint, bigint];

const NOTHING: Sums = [0n, 0n, 0n, 0n, 0n, 0n];

function measureRow(row: Measures): Sums {
  const { records, seconds, egress_bytes, ingress_bytes, total, unbilled } = row;
  const numbers = [records, seconds, egress_bytes, ingress_bytes, total.micros, unbilled.micros];
  return numbers.map(BigInt) as unknown as Sums;
}

function add(all: readonly Sums[]): Sums {
  return all.reduce<Sums>(
    (sum, each) => sum.map((value, at) => value + each[at]!) as unknown as Sums,
    NOTHING,
  );
}

function measure(records: readonly ListedRecord[]): Sums {
  return add(
    records.map(({ seconds, egress_bytes, ingress_bytes, total, unbilled }) => {
      const amounts = unbilled ? [0, total.micros] : [total.micros, 0];
      return [1, seconds, egress_bytes, ingress_bytes, ...amounts].map(BigInt) as unknown as Sums;
    }),
  );
}

function compare(where: string, expected: Sums, found: Sums, look: Look): void {
  if (expected.some((value, at) => value !== found[at]))
    look.wrong(`${where}: ${found.join(' ')}, should be ${expected.join(' ')}`);
}

interface Billing {
  readonly balance: { readonly micros: number };
  readonly recent: readonly LedgerEntry[];
}

/** Entries in the billing answer (specification 4.3). */
const RECENT_MAX = 50;

async function checkBilling(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, entries } of readable(facts)) {
    const { balance, recent } = (await facts.reads.get(ledger.tenant, '/v1/billing')) as Billing;
    look.at();
    if (BigInt(balance.micros) !== ledger.balance)
      look.wrong(`${ledger.tenant} has ${ledger.balance}, and is shown ${balance.micros}`);
    const newest = entries.slice(-RECENT_MAX).reverse();
    const textOf = ({ kind, amount, reference, at }: LedgerEntry) =>
      JSON.stringify([kind, amount.micros, reference, at]);
    if (newest.map(textOf).join() !== recent.map(textOf).join())
      look.wrong(`${ledger.tenant} is shown other recent entries than the ${newest.length} newest ones`);
  }
}

/** A line of CSV and an entry, as far as both say the same. */
const lineOf = (line: Readonly<Record<string, string>>) =>
  [line.kind, line.micros, line.posting_seq, line.balance_after_micros, line.id, line.at].join(' ');

const lineOfEntry = ({ kind, amount, posting_seq, balance_after, id = '', at }: LedgerEntry) =>
  [kind, amount.micros, posting_seq, balance_after.micros, id, at].join(' ');

function compareCsv(where: string, csv: string, entries: readonly LedgerEntry[], look: Look): void {
  const lines = readCsv(csv).map(lineOf);
  const expected = entries.map(lineOfEntry).reverse();
  look.at(lines.length);
  const different = expected.findIndex((line, at) => line !== lines[at]);
  if (lines.length !== expected.length || different !== -1)
    look.wrong(
      `${where} has ${lines.length} lines of ${expected.length}; ${expected[different]} is ${lines[different]}`,
    );
}

async function checkCsv(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, entries } of readable(facts)) {
    const csv = await facts.reads.text(ledger.tenant, '/v1/ledger', 'text/csv');
    compareCsv(ledger.tenant, csv, entries, look);
  }
}

async function checkConsole(facts: Facts, look: Look): Promise<void> {
  for await (const { ledger, entries } of readable(facts)) {
    const csv = await facts.reads.console(ledger.tenant, '/console/ledger.csv');
    compareCsv(ledger.tenant, csv, entries, look);
  }
}
