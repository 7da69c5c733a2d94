/** Rules of `POST /v1/usage`: what was acknowledged, what was not, and what the answers said. */
import { createHash } from 'node:crypto';
import { isTrue, tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import { endOf, microsOf, payloadOf, type Report } from '../journal.ts';
import { momentsOf } from '../moments.ts';
import { possibleAt } from '../possible.ts';
import type { Look, Rule } from '../rule.ts';
import type { ListedRecord } from '../views.ts';

export const USAGE_RULES: readonly Rule[] = [
  { name: 'an acknowledged record is charged exactly once', check: findLostAndDoubled },
  { name: 'nothing is charged that was not sent, or other than it was sent', check: findMadeUp },
  { name: 'a batch without an answer is charged as a whole or not at all', check: findTorn },
  { name: 'a refused batch charges nothing', check: findChargedThoughRefused },
  { name: 'an answer counts each record of its batch', check: checkCounts },
  { name: 'a total is what the request charged', check: checkTotals },
  { name: 'each charge was counted by one answer', check: checkSums },
  { name: 'a record that was acknowledged before is a duplicate', check: findLateCharges },
  { name: 'usage is billed, unless an operator made its tenant exempt', check: checkBilled },
];

/** What is known of the usage of a tenant. */
interface Usage {
  readonly tenant: string;
  readonly reports: readonly Report[];
  /** By id: each of its charges, of which there should be one at most. */
  readonly charges: ReadonlyMap<string, readonly ListedRecord[]>;
}

async function* usages(facts: Facts): AsyncGenerator<Usage> {
  const reports = Map.groupBy(facts.journal.reports, ({ tenant }) => tenant);
  for await (const { tenant, records } of facts.ledgers()) {
    const charges = Map.groupBy(records, ({ id }) => id);
    yield { tenant, reports: reports.get(tenant) ?? [], charges };
  }
}

const isAcknowledged = ({ entry }: Report) => entry.outcome === 'ok';
const isUnknown = ({ entry }: Report) => entry.outcome === 'unknown';
const isRefused = ({ entry }: Report) => entry.outcome === 'refused';
const idsOf = (reports: readonly Report[]) => new Set(reports.flatMap(({ ids }) => ids));

async function findLostAndDoubled(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    const acknowledged = idsOf(reports.filter(isAcknowledged));
    look.at(acknowledged.size);
    for (const id of acknowledged) if (!charges.has(id)) look.wrong(`${id} of ${tenant} was lost`);
    for (const [id, { length }] of charges)
      if (length > 1) look.wrong(`${id} of ${tenant} was charged ${length} times`);
  }
}

/** The name of a person who was erased. */
const ERASED = '(erased)';

async function findMadeUp(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, charges } of usages(facts)) {
    const sent = facts.journal.sent.get(tenant);
    for (const [id, [record]] of charges) {
      look.at();
      const payloads = sent?.get(id);
      if (!payloads) look.wrong(`${id} of ${tenant} was never sent`);
      else if (!payloads.some((payload) => isSame(payload, record!)))
        look.wrong(`${id} of ${tenant} is ${payloadOf(record!)}, was sent as ${payloads.join(' and ')}`);
    }
  }
}

function isSame(payload: string, record: ListedRecord): boolean {
  if (payload === payloadOf(record)) return true;
  if (record.participant !== ERASED) return false;
  const hidden = JSON.stringify([...(JSON.parse(payload) as unknown[]).slice(0, -1), ERASED]);
  return hidden === payloadOf(record);
}

/** Ids that are in batches of the same ids only, in the same order: repetitions of one batch. */
function idsOfOneBatch(reports: readonly Report[]): (report: Report) => readonly string[] {
  const batches = new Map<string, string>();
  const shared = new Set<string>();
  const nameOf = ({ ids }: Report) => createHash('sha256').update(JSON.stringify(ids)).digest('base64');
  for (const report of reports) {
    const name = nameOf(report);
    for (const id of report.ids) {
      if ((batches.get(id) ?? name) !== name) shared.add(id);
      batches.set(id, name);
    }
  }
  return ({ ids }) => [...new Set(ids)].filter((id) => !shared.has(id));
}

async function findTorn(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    const own = idsOfOneBatch(reports);
    for (const report of reports.filter(isUnknown)) {
      const ids = own(report);
      const charged = ids.filter((id) => charges.has(id)).length;
      look.at();
      if (charged !== 0 && charged !== ids.length)
        look.wrong(`${charged} of ${ids.length} records of ${tenant} were charged, such as ${ids[0]}`);
    }
  }
}

async function findChargedThoughRefused(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    const others = idsOf(reports.filter((report) => !isRefused(report)));
    const refused = idsOf(reports.filter(isRefused));
    for (const id of refused.difference(others)) {
      look.at();
      if (charges.has(id)) look.wrong(`${id} of ${tenant} was refused, and charged`);
    }
  }
}

/** The counts of an answer. */
function countsOf({ entry: { answer } }: Report) {
  const { charged = -1, duplicates = -1, unbilled = -1 } = answer ?? {};
  return { charged, duplicates, unbilled };
}

async function checkCounts(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    for (const report of reports.filter(isAcknowledged)) {
      const { charged, duplicates, unbilled } = countsOf(report);
      const distinct = new Set(report.ids);
      const free = [...distinct].filter((id) => charges.get(id)?.[0]?.unbilled).length;
      look.at();
      const says = `${charged} + ${duplicates} + ${unbilled}`;
      if (
        charged + duplicates + unbilled !== report.ids.length ||
        Math.min(charged, duplicates, unbilled) < 0
      )
        look.wrong(`${says} are not the ${report.ids.length} records of a batch of ${tenant}`);
      else if (duplicates < report.ids.length - distinct.size)
        look.wrong(`${says} leaves out that ${tenant} sent an id twice in a batch`);
      else if (unbilled > free || charged > distinct.size - free)
        look.wrong(`${says} of ${tenant}, of which ${free} were unbilled`);
    }
  }
}

/** When each id was first acknowledged. */
function acknowledgements(answered: readonly Report[]): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const { ids, entry } of answered)
    for (const id of ids) known.set(id, Math.min(known.get(id) ?? Number.POSITIVE_INFINITY, endOf(entry)));
  return known;
}

/** Only what was not acknowledged before can be charged. What of it is not charged, a request at the same time has charged. */
async function checkTotals(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    const answered = reports.filter(isAcknowledged);
    const known = acknowledgements(answered);
    for (const report of answered) {
      const { charged } = countsOf(report);
      const total = microsOf(report.entry.answer?.total) ?? -1n;
      const prices = [...new Set(report.ids)]
        .filter((id) => known.get(id)! >= report.entry.invokedUs)
        .flatMap((id) => charges.get(id)?.[0] ?? [])
        .filter(({ unbilled }) => !unbilled)
        .toSorted((a, b) => a.total.micros - b.total.micros);
      const least = sumOf(prices.slice(0, charged));
      const most = sumOf(prices.slice(prices.length - charged));
      look.at();
      if (total < least || total > most)
        look.wrong(`${total} for ${charged} records of ${tenant}, which cost ${least} to ${most}`);
    }
  }
}

/** What answers counted, beside what was charged. A batch without an answer may have charged as many as it has. */
async function checkSums(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports, charges } of usages(facts)) {
    const open = idsOf(reports.filter(isUnknown));
    const billed = [...charges.values()].map(([record]) => record!).filter(({ unbilled }) => !unbilled);
    const answered = reports.filter(isAcknowledged);
    const counted = answered.reduce((sum, report) => sum + countsOf(report).charged, 0);
    const total = answered.reduce((sum, { entry }) => sum + (microsOf(entry.answer?.total) ?? 0n), 0n);
    const sums = sumOf(billed);
    const certain = billed.filter(({ id }) => !open.has(id));
    look.at(answered.length);
    if (counted > billed.length || counted < certain.length)
      look.wrong(`answers counted ${counted} records of ${tenant}, and ${billed.length} are charged`);
    if (total > sums || total < sumOf(certain))
      look.wrong(`answers counted ${total} micros of ${tenant}, and ${sums} are charged`);
  }
}

function sumOf(records: readonly ListedRecord[]): bigint {
  return records.reduce((sum, { total }) => sum + BigInt(total.micros), 0n);
}

async function findLateCharges(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, reports } of usages(facts)) {
    const answered = reports.filter(isAcknowledged);
    const known = acknowledgements(answered);
    for (const report of answered) {
      const { invokedUs } = report.entry;
      const repeated = report.ids.filter((id) => known.get(id)! < invokedUs).length;
      const { duplicates } = countsOf(report);
      look.at();
      if (duplicates < repeated)
        look.wrong(`${duplicates} duplicates of ${tenant}, but ${repeated} had been acknowledged before`);
    }
  }
}

/** Nothing else makes a tenant exempt, or ends it. */
async function checkBilled(facts: Facts, look: Look): Promise<void> {
  const changes = Map.groupBy(facts.of('tenant.exempt'), ({ args }) => args.tenant!);
  const reports = Map.groupBy(facts.journal.reports, ({ tenant }) => tenant);
  for await (const ledger of facts.ledgers()) {
    const { tenant } = ledger;
    const isExempt = (fromUs: number, untilUs: number) =>
      possibleAt(changes.get(tenant) ?? [], fromUs, untilUs).map((change) => change?.args.exempt ?? false);
    for (const { posting, fromUs, untilUs } of momentsOf(ledger, reports.get(tenant) ?? [])) {
      if (posting.records === 0) continue;
      look.at();
      if (!isExempt(fromUs, untilUs).includes(posting.kind === 'unbilled'))
        look.wrong(`${posting.seq} of ${tenant} is ${posting.kind}, and it was not made so`);
    }
    const [row] = await facts.db.rows(`select exempt from tenants where ${tenantOf('id')} = $1`, [tenant]);
    const now = isTrue(row?.exempt);
    if (!isExempt(Number.MAX_VALUE, Number.MAX_VALUE).includes(now))
      look.wrong(`${tenant} is ${now ? '' : 'not '}exempt, and it was not made so`);
  }
}
