/** Rules of the ledger as it is stored: the chain of balances, and what postings stand for. */
import { isTrue, tenantOf } from '../database.ts';
import type { Facts, Posting } from '../facts.ts';
import type { Look, Rule } from '../rule.ts';
import type { ListedRecord } from '../views.ts';

export const LEDGER_RULES: readonly Rule[] = [
  { name: 'the balance is the sum of the ledger', check: checkBalances },
  { name: 'postings are numbered from 1 without a gap', check: checkNumbers },
  { name: 'each balance follows from the one before', check: checkChain },
  { name: 'times of postings do not go back', check: checkTimes },
  { name: 'a posting of usage is what its records cost', check: checkBatches },
  { name: 'the rows of a posting are of its tenant', check: checkOwners },
];

const isOfUsage = ({ kind }: Posting) => kind === 'usage' || kind === 'unbilled';

async function checkBalances(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, balance, postings } of facts.ledgers()) {
    const sum = postings.reduce((sum, { amount }) => sum + amount, 0n);
    look.at();
    if (balance !== sum) look.wrong(`${tenant} has ${balance}, its postings add up to ${sum}`);
    const newest = postings.at(-1)?.balance ?? 0n;
    if (balance !== newest) look.wrong(`${tenant} has ${balance}, its newest posting says ${newest}`);
  }
}

async function checkNumbers(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, lastSeq, postings } of facts.ledgers()) {
    const gap = postings.findIndex(({ seq }, at) => seq !== BigInt(at + 1));
    look.at(postings.length);
    if (gap !== -1) look.wrong(`${tenant} has ${postings[gap]!.seq} where ${gap + 1} should be`);
    if (lastSeq !== BigInt(postings.length))
      look.wrong(`${tenant} has ${postings.length} postings, its account says ${lastSeq}`);
  }
}

async function checkChain(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, postings } of facts.ledgers()) {
    let before = 0n;
    for (const { seq, amount, balanceBefore, balance } of postings) {
      look.at();
      if (balanceBefore !== before || balance !== before + amount)
        look.wrong(`${seq} of ${tenant}: ${before} and ${amount} make ${balanceBefore} and ${balance}`);
      before = balance;
    }
  }
}

async function checkTimes(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, postings } of facts.ledgers()) {
    look.at(postings.length);
    for (const [at, posting] of postings.entries()) {
      const earlier = postings[at - 1];
      // Texts of times in UTC compare as the times do.
      if (earlier && posting.at < earlier.at)
        look.wrong(`${posting.seq} of ${tenant} is of ${posting.at}, the one before of ${earlier.at}`);
    }
  }
}

/** A posting of usage, and the records that it should stand for. */
export interface Batch {
  readonly posting: Posting;
  readonly records: readonly ListedRecord[];
}

/** Postings say how many records they stand for; records are in the order of the postings. */
export function batchesOf(postings: readonly Posting[], records: readonly ListedRecord[]): Batch[] {
  let from = 0;
  return postings.filter(isOfUsage).map((posting) => {
    const to = from + posting.records;
    const batch = { posting, records: records.slice(from, to) };
    from = to;
    return batch;
  });
}

async function checkBatches(facts: Facts, look: Look): Promise<void> {
  for await (const { tenant, postings, records } of facts.ledgers()) {
    const batches = batchesOf(postings, records);
    const counted = batches.reduce((sum, { posting }) => sum + posting.records, 0);
    if (counted !== records.length)
      look.wrong(`postings of ${tenant} have ${counted} records, of which ${records.length} are listed`);
    for (const { posting, records } of batches) {
      const cost = records.reduce((sum, { total }) => sum + BigInt(total.micros), 0n);
      const isUnbilled = posting.kind === 'unbilled';
      look.at();
      if (posting.amount !== (isUnbilled ? 0n : -cost))
        look.wrong(`${posting.seq} of ${tenant} is ${posting.amount}, its records cost ${cost}`);
      if (records.some((record) => record.unbilled !== isUnbilled))
        look.wrong(`${posting.seq} of ${tenant} is ${posting.kind}, and not all of its records are`);
    }
  }
}

/**
 * By the numbers of tenants: two of them may have the same ids, measured alike, so that lists look right where a row is another one's.
 * Records up to `archived_seq` are in chunks, and leave their rows some time later.
 */
const OWNERS = `
  select ${tenantOf('tenant_id')} as tenant, posting_seq, p.kind, coalesce(p.records, 0) as records, p.amount,
         coalesce(r.rows, 0) as rows, coalesce(r.ids, 0) as ids, coalesce(r.sum, 0) as sum,
         posting_seq <= coalesce(a.archived_seq, 0) as archived
    from (select tenant_id, seq as posting_seq, kind, records, amount from postings where records > 0) p
    full join (select tenant_id, posting_seq, count(*) as rows, count(distinct id) as ids, sum(amount) as sum
                 from usage_records group by tenant_id, posting_seq) r using (tenant_id, posting_seq)
    left join accounts a using (tenant_id)`;

async function checkOwners(facts: Facts, look: Look): Promise<void> {
  const known = new Set(facts.tenants);
  for (const row of await facts.db.rows(OWNERS)) {
    const { tenant, kind, records, rows, ids } = row;
    const where = `${row.posting_seq} of ${tenant}`;
    look.at();
    if (!known.has(tenant!)) look.wrong(`${where} has ${rows} rows, and no client reported for it`);
    if (isTrue(row.archived)) continue;
    if (rows !== records || ids !== records) look.wrong(`${where} has ${rows} rows of ${records} records`);
    else if (kind === 'usage' && BigInt(row.amount!) + BigInt(row.sum!) !== 0n)
      look.wrong(`${where} is ${row.amount}, its rows cost ${row.sum}`);
  }
  const twice = await facts.db.rows(
    `select ${tenantOf('tenant_id')} as tenant, id, count(*) as count from usage_records
      group by tenant_id, id having count(*) > 1`,
  );
  for (const { tenant, id, count } of twice) look.wrong(`${tenant} has ${id} in ${count} rows`);
}
