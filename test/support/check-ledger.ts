/**
 * Checks all ledger invariants of a database at rest, twice: in SQL with `numeric`,
 * and in `bigint` fractions from the reported usage and the rate card that priced it.
 *
 * It is written from the specification and the schema and shares no code with the service.
 */
import type Stripe from 'stripe';

interface Queryable {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** One line for each violation; empty if the ledger is correct. */
export async function checkLedger(
  db: Queryable,
  rounding: 'carry' | 'per_record' = 'carry',
): Promise<string[]> {
  const problems: string[] = [];
  for (const [what, query] of Object.entries({ ...RULES, ...PRICE_RULES[rounding] })) {
    const { rows } = await db.query(`select r::text as row from (${query}) as r limit 5`);
    for (const { row } of rows as { row: string }[]) problems.push(`${what}: ${row}`);
  }
  return [...problems, ...(await checkPrices(db, rounding))];
}

/** 2^30 x 1875: micros per GiB and micros per 1000 minutes are both whole over it. */
const D = '2013265920000::numeric';

/** Sums, and deltas that are not added yet, beside what the records add up to. A difference is what is left of both. */
function sumRule(table: string, ofTable: string, ofDelta: string): string {
  return `
    select tenant_id, hour, room, role, tier, sum(records), sum(seconds), sum(egress), sum(ingress), sum(amount), sum(free)
      from (select u.tenant_id, date_trunc('hour', u.hour, 'UTC') as hour, ${ofTable} as room, u.role, u.tier, u.records::numeric, u.seconds::numeric,
                   u.egress_bytes as egress, u.ingress_bytes as ingress, u.amount, u.unbilled as free from ${table} u
            union all
            select d.tenant_id, date_trunc('hour', d.at, 'UTC'), ${ofDelta}, s.role, s.tier, s.records, s.seconds,
                   s.egress_bytes, s.ingress_bytes, s.amount, s.unbilled
              from usage_deltas d, json_array_elements(d.sums) as e (v), lateral (select v->>0 as room, (v->>1)::"char" as role,
                   (v->>2)::"char" as tier, (v->>3)::numeric as records, (v->>4)::numeric as seconds,
                   (v->>5)::numeric as egress_bytes, (v->>6)::numeric as ingress_bytes, (v->>7)::numeric as amount,
                   (v->>8)::numeric as unbilled) as s
            union all
            select r.tenant_id, date_trunc('hour', p.at, 'UTC'), ${ofTable === `''` ? `''` : `coalesce(r.room, '')`},
                   r.role, r.tier, -1, -r.seconds, -r.egress_bytes, -r.ingress_bytes,
                   case p.kind when 'usage' then -r.amount else 0 end, case p.kind when 'unbilled' then -r.amount else 0 end
              from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq) as each
     group by 1, 2, 3, 4, 5
    having (sum(records), sum(seconds), sum(egress), sum(ingress), sum(amount), sum(free)) <> (0, 0, 0, 0, 0, 0)`;
}

/** The same of days, weeks or months that are rolled up. The time of a row is the start of its part. */
function rolledUpRule(
  table: string,
  unit: 'day' | 'week' | 'month',
  column: 'until' | 'details_until',
): string {
  const hasDetails = column === 'details_until';
  const isOver = (at: string) =>
    `(date_trunc('${unit}', ${at}, 'UTC') at time zone 'UTC' + interval '1 ${unit}') at time zone 'UTC' <= u.${column}`;
  return `
    select tenant_id, time, room, role, tier, sum(records), sum(seconds), sum(egress), sum(ingress), sum(amount), sum(free)
      from (select u.tenant_id, u.${unit} as time, u.room, ${hasDetails ? 'u.role, u.tier' : `'' as role, '' as tier`},
                   u.records::numeric, u.seconds::numeric, u.egress_bytes as egress,
                   u.ingress_bytes as ingress, u.amount, u.unbilled as free from ${table} u
            union all
            select d.tenant_id, date_trunc('${unit}', d.at, 'UTC'), v->>0, ${hasDetails ? `(v->>1)::"char", (v->>2)::"char"` : `'', ''`},
                   (v->>3)::numeric, (v->>4)::numeric, (v->>5)::numeric, (v->>6)::numeric, (v->>7)::numeric, (v->>8)::numeric
              from usage_deltas d join usage_rollups u using (tenant_id), json_array_elements(d.sums) as e (v)
             where ${isOver('d.at')}
            union all
            select r.tenant_id, date_trunc('${unit}', p.at, 'UTC'), coalesce(r.room, ''), ${hasDetails ? 'r.role, r.tier' : `'', ''`},
                   -1, -r.seconds, -r.egress_bytes,
                   -r.ingress_bytes, case p.kind when 'usage' then -r.amount else 0 end,
                   case p.kind when 'unbilled' then -r.amount else 0 end
              from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
              join usage_rollups u on u.tenant_id = r.tenant_id
             where ${isOver('p.at')}) as each
     group by 1, 2, 3, 4, 5
    having (sum(records), sum(seconds), sum(egress), sum(ingress), sum(amount), sum(free)) <> (0, 0, 0, 0, 0, 0)`;
}

/** Each rule selects the rows that break it. */
const RULES: Readonly<Record<string, string>> = {
  'the balance is the sum of the ledger': `
    select a.tenant_id, a.balance, sum(p.amount) from accounts a left join postings p using (tenant_id)
     group by a.tenant_id having a.balance <> coalesce(sum(p.amount::numeric), 0)`,
  'an account shows its newest posting': `
    select a.tenant_id, a.last_seq, max(p.seq) from accounts a left join postings p using (tenant_id)
     group by a.tenant_id having a.last_seq is distinct from max(p.seq)`,
  'sequence numbers have no gaps, balances follow from each other, time does not go back': `
    select * from (select tenant_id, seq, balance_before, amount, balance, at,
                          row_number() over w as place, lag(balance, 1, 0) over w as before, lag(at) over w as earlier
                     from postings window w as (partition by tenant_id order by seq)) as p
     where seq <> place or balance_before <> before or balance <> before + amount or at < earlier`,
  'a batch posting stands for its records': `
    select p.tenant_id, p.seq, p.kind, p.amount, p.records, count(r.id), sum(r.amount)
      from postings p left join usage_records r on r.tenant_id = p.tenant_id and r.posting_seq = p.seq
     where p.records is not null group by p.tenant_id, p.seq
    having p.records <> count(r.id) or (p.kind = 'usage' and p.amount <> -sum(r.amount::numeric))
        or min(r.line) <> 0 or max(r.line) <> count(r.id) - 1 or count(distinct r.line) <> count(r.id)`,
  'a batch posting names its newest records': `
    select p.tenant_id, p.seq, p.newest_ids, newest.ids from postings p join (
      select tenant_id, posting_seq, array_agg(id::text order by line desc) as ids from (
        select *, row_number() over (partition by tenant_id, posting_seq order by line desc) as place
          from usage_records) as r
       where place <= 50 group by tenant_id, posting_seq) as newest on newest.tenant_id = p.tenant_id
                                                                   and newest.posting_seq = p.seq
     where p.newest_ids is distinct from newest.ids`,
  'a record belongs to a batch posting': `
    select r.tenant_id, r.id from usage_records r
      left join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
     where p.kind is null or p.kind not in ('usage', 'unbilled')`,
  'a payment is credited once, and the ledger holds its net': `
    select p.id, p.credited, p.reversed, sum(l.amount) from payments p
      left join postings l on l.tenant_id = p.tenant_id and l.payment_id = p.id
     group by p.id, p.kind, p.credited, p.reversed
    having sum(l.amount) is distinct from p.credited - p.reversed
        or count(*) filter (where l.kind = p.kind and l.amount = p.credited) <> 1
        or count(*) filter (where l.kind in ('top_up', 'auto_top_up')) <> 1`,
  'a posting of a payment has its payment': `
    select l.tenant_id, l.seq, l.payment_id from postings l left join payments p on p.id = l.payment_id
     where l.payment_id is not null and p.tenant_id is distinct from l.tenant_id`,
  'what was taken back is the share of the credit in what refunds and disputes took, up to the credit': `
    select * from (select p.id, p.credited, p.reversed, (p.credited + p.tax)::numeric as paid,
      coalesce((select sum(amount) from refunds r where r.payment_id = p.id and r.status in ('pending', 'succeeded')), 0)
      + coalesce((select sum(d.withdrawn - d.reinstated) from disputes d where d.payment_id = p.id), 0) as taken
      from payments p) as p
     where case when taken >= paid then reversed <> credited
                else reversed * paid > taken * credited or (reversed + 1) * paid <= taken * credited end`,
  'a tenant has one open top-up at the most': `
    select tenant_id, count(*) from top_up_attempts where state in ('pending', 'unknown')
     group by tenant_id having count(*) > 1`,
  'a top-up has one payment at the most, and if it succeeded exactly one': `
    select a.id, a.state, a.payment_id, count(p.id) from top_up_attempts a left join payments p on p.attempt_id = a.id
     group by a.id having count(p.id) > 1 or (a.state = 'succeeded' and min(p.id) is distinct from a.payment_id)
        or (a.state in ('pending', 'unknown') and count(p.id) > 0)`,
  'a payment of a top-up has the tenant and the amount of the top-up': `
    select p.id from payments p join top_up_attempts a on a.id = p.attempt_id
     where p.tenant_id <> a.tenant_id or p.credited <> a.amount or p.kind <> 'auto_top_up'`,
  'a tenant that paid is not pending': `
    select t.id from tenants t join payments p on p.tenant_id = t.id where t.status = 'pending'`,
  'the sums of usage by hour are those of the records': sumRule('usage_hours', `''`, `''`),
  'the sums of usage by room are those of the records': sumRule('usage_room_hours', 'u.room', 's.room'),
  'the sums of usage by room and day are those of the records': rolledUpRule(
    'usage_room_days',
    'day',
    'until',
  ),
  'the sums of usage by room and week are those of the records': rolledUpRule(
    'usage_room_weeks',
    'week',
    'until',
  ),
  'the sums of usage by room, role, tier and day are those of the records': rolledUpRule(
    'usage_detail_days',
    'day',
    'details_until',
  ),
  'the sums of usage by room, role, tier and week are those of the records': rolledUpRule(
    'usage_detail_weeks',
    'week',
    'details_until',
  ),
  'the sums of usage by room, role, tier and month are those of the records': rolledUpRule(
    'usage_detail_months',
    'month',
    'details_until',
  ),
  'an alert is raised if the balance is below it, and not otherwise': `
    select r.tenant_id, r.kind, r.below, r.burn, r.raised_at, a.balance
      from (select *, below * coalesce(burn::numeric, 1) as low,
                   below * coalesce(burn::numeric * 1.1, 1) as high from alert_thresholds) as r
      join accounts a using (tenant_id) join tenants t on t.id = r.tenant_id
     where not t.exempt and case when raised_at is null then a.balance < low and burn is distinct from 0
                                 else a.balance >= high or burn = 0 end`,
  'the status of a tenant is where its history leads': `
    select t.id, t.status from tenants t where t.status <> coalesce(
      (select new_status from tenant_status_changes c where c.tenant_id = t.id order by at desc limit 1), 'pending')`,
};

/** The price of each record before rounding, as a numerator over D; `ceiling_n` and `fee_n` separately. */
const EXACT = `
  select r.tenant_id, r.posting_seq, r.line, r.id, r.amount, r.capped, p.kind, p.carry,
         (c.card->>'platform_fee_per_gib')::numeric * 1000000 * r.egress_bytes * 1875 as fee_n,
         (c.card->'ceiling_per_1000_participant_minutes'
            ->(case r.role when 'h' then 'host' when 'a' then 'audience' else 'broadcast_audience' end)
            ->>(case r.tier when 'a' then 'audio' when 'h' then 'hd' when 'f' then 'full_hd' when '2' then '2k'
                            else '2k_plus' end))::numeric * 1000000 * r.seconds * 33554432 as ceiling_n
    from usage_records r
    join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
    join rate_cards c on c.version = p.rate_version`;

/** The running total restarts in each batch of an exempt tenant, and never for other tenants. */
const RUNNING = `
  select e.*, least(fee_n, ceiling_n) as n,
         ${D} / 2 + sum(least(fee_n, ceiling_n)) over (
           partition by tenant_id, kind, case when kind = 'unbilled' then posting_seq end
           order by posting_seq, line) as total_n
    from (${EXACT}) as e`;

const PRICE_RULES: Readonly<Record<'carry' | 'per_record', Readonly<Record<string, string>>>> = {
  carry: {
    'a record costs what it adds to the running total': `
      select tenant_id, id, amount, capped, n from (${RUNNING}) as r
       where amount <> div(total_n, ${D}) - div(total_n - n, ${D}) or capped <> (ceiling_n < fee_n)`,
    'a posting keeps what its last record left over': `
      select * from (select distinct on (tenant_id, posting_seq) tenant_id, posting_seq, carry, total_n
                       from (${RUNNING}) as r order by tenant_id, posting_seq, line desc) as last
       where carry <> mod(total_n, ${D})`,
    'an account keeps what its last charge left over': `
      select a.tenant_id, a.carry from accounts a where a.carry <> coalesce(
        (select carry from postings p where p.tenant_id = a.tenant_id and p.kind = 'usage'
          order by seq desc limit 1), ${D} / 2)`,
    'the total is never more than half a micro from the exact sum': `
      select tenant_id, sum(amount), sum(n) from (${RUNNING}) as r where kind = 'usage' group by tenant_id
      having abs(sum(amount) * ${D} - sum(n)) > ${D} / 2`,
  },
  per_record: {
    'a record is rounded half-up by itself': `
      select tenant_id, id, amount, capped, n from (${RUNNING}) as r
       where amount <> div(n + ${D} / 2, ${D}) or capped <> (ceiling_n < fee_n)`,
  },
};

interface Card {
  readonly platform_fee_per_gib: string;
  readonly ceiling_per_1000_participant_minutes: Record<string, Record<string, string>>;
}

interface StoredRecord {
  readonly tenant: string;
  readonly id: string;
  readonly kind: 'usage' | 'unbilled';
  readonly seq: string;
  readonly card: string;
  readonly bytes: string;
  readonly seconds: string;
  readonly role: string;
  readonly tier: string;
  readonly amount: string;
  readonly capped: boolean;
}

const ROLES: Record<string, string> = { h: 'host', a: 'audience', b: 'broadcast_audience' };
const TIERS: Record<string, string> = { a: 'audio', h: 'hd', f: 'full_hd', '2': '2k', k: '2k_plus' };

async function checkPrices(db: Queryable, rounding: 'carry' | 'per_record'): Promise<string[]> {
  const { rows } = await db.query(
    `select r.tenant_id::text as tenant, r.id, p.kind, p.seq::text as seq, c.card::text as card,
            r.egress_bytes::text as bytes, r.seconds::text as seconds, r.role::text as role, r.tier::text as tier,
            r.amount::text as amount, r.capped
       from usage_records r
       join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
       join rate_cards c on c.version = p.rate_version
      order by r.tenant_id, r.posting_seq, r.line`,
  );
  const cards = new Map<string, Card>();
  const sums = new Map<string, Fraction>();
  const problems: string[] = [];
  for (const record of rows as StoredRecord[]) {
    if (!cards.has(record.card)) cards.set(record.card, JSON.parse(record.card));
    const { price, capped } = exactPrice(cards.get(record.card)!, {
      role: ROLES[record.role]!,
      tier: TIERS[record.tier]!,
      seconds: BigInt(record.seconds),
      bytes: BigInt(record.bytes),
    });
    const scope = record.kind === 'usage' ? record.tenant : `${record.tenant} ${record.seq}`;
    const before = sums.get(scope) ?? ZERO;
    const after = add(before, price);
    sums.set(scope, after);
    const amount = rounding === 'carry' ? roundHalfUp(after) - roundHalfUp(before) : roundHalfUp(price);
    if (amount !== BigInt(record.amount) || capped !== record.capped) {
      problems.push(`record ${record.id} of ${scope} cost ${record.amount}, should cost ${amount}`);
    }
  }
  return problems.slice(0, 5);
}

/** A rational number; never negative here. */
export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** A denominator for GiB as well as for thousands of minutes. */
const GIB_MINUTES = 1024n ** 3n * 60_000n;

export const ZERO: Fraction = { top: 0n, bottom: GIB_MINUTES };

export function add(a: Fraction, b: Fraction): Fraction {
  if (a.bottom === b.bottom) return { top: a.top + b.top, bottom: a.bottom };
  return { top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom };
}

/** The nearest whole number, rounding half up. */
export function roundHalfUp({ top, bottom }: Fraction): bigint {
  return (2n * top + bottom) / (2n * bottom);
}

/** Micros, from the formula of the specification: `min(fee x GiB, ceiling x seconds / 60000)`. */
export function exactPrice(
  card: Card,
  usage: { role: string; tier: string; seconds: bigint; bytes: bigint },
): { price: Fraction; capped: boolean } {
  const perGib = micros(card.platform_fee_per_gib);
  const per1000 = micros(card.ceiling_per_1000_participant_minutes[usage.role]![usage.tier]!);
  const fee = perGib * usage.bytes * 60_000n;
  const ceiling = per1000 * usage.seconds * 1024n ** 3n;
  const capped = ceiling < fee;
  return { price: { top: capped ? ceiling : fee, bottom: GIB_MINUTES }, capped };
}

function micros(dollars: string): bigint {
  const [whole, fraction = ''] = dollars.split('.');
  return BigInt(`${whole}${`${fraction}000000`.slice(0, 6)}`);
}

interface Booked {
  readonly id: string;
  readonly credited: string;
  readonly reversed: string;
  readonly tenant: string;
}

/**
 * Compare the provider's own records with what was credited: the same payments, amounts and
 * tenants, and the same reversals. Payments without one of our tenants are left out, and those of
 * `uncredited`, which must not be here.
 */
export async function checkProviderBook(
  db: Queryable,
  stripe: Stripe,
  uncredited: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const { rows } = await db.query(
    `select id, credited::text as credited, reversed::text as reversed, tenant_name(tenant_id) as tenant from payments`,
  );
  const credited = new Map((rows as Booked[]).map((row) => [row.id, row]));
  const takenBack = await sumTakenBack(stripe);
  const taxes = await readTaxes(stripe);
  const problems: string[] = [];
  const attempts = new Set<string>();
  for await (const intent of stripe.paymentIntents.list({ limit: 100 })) {
    if (intent.status !== 'succeeded' || intent.currency !== 'usd' || !isOurs(intent)) continue;
    if (uncredited.has(intent.id)) continue;
    const { attempt } = intent.metadata;
    if (attempt && attempts.has(attempt)) problems.push(`top-up ${attempt} was charged twice`);
    if (attempt) attempts.add(attempt);
    const booked = credited.get(intent.id);
    const paid = BigInt(intent.amount_received) * 10_000n;
    const credit = paid - (taxes.get(intent.id) ?? 0n) * 10_000n;
    const back = (takenBack.get(intent.id) ?? 0n) * 10_000n;
    const reversed = back >= paid ? credit : (credit * back) / paid;
    const expected = `${credit} - ${reversed} of ${intent.metadata.tenant}`;
    const found = booked ? `${booked.credited} - ${booked.reversed} of ${booked.tenant}` : 'nothing';
    if (expected !== found) problems.push(`payment ${intent.id}: ${expected} at the provider, ${found} here`);
    credited.delete(intent.id);
  }
  for (const id of credited.keys()) problems.push(`payment ${id}: credited, unknown to the provider`);
  return problems;
}

function isOurs({ metadata }: Stripe.PaymentIntent): boolean {
  return (
    /^co_[0-9a-f]{32}$/.test(metadata.checkout ?? '') || /^tu_[0-9a-f]{32}$/.test(metadata.attempt ?? '')
  );
}

/** Cents by payment, as the payment pages computed them. */
async function readTaxes(stripe: Stripe): Promise<Map<string, bigint>> {
  const taxes = new Map<string, bigint>();
  for await (const { payment_intent, total_details } of stripe.checkout.sessions.list({ limit: 100 })) {
    if (payment_intent) taxes.set(String(payment_intent), BigInt(total_details?.amount_tax ?? 0));
  }
  return taxes;
}

/** Cents by payment: refunds that did not fail, and movements of disputes. */
async function sumTakenBack(stripe: Stripe): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>();
  const count = (payment: unknown, cents: number) =>
    sums.set(String(payment), (sums.get(String(payment)) ?? 0n) + BigInt(cents));
  for await (const { payment_intent, status, amount } of stripe.refunds.list({ limit: 100 })) {
    if (status === 'pending' || status === 'succeeded') count(payment_intent, amount);
  }
  for await (const { payment_intent, balance_transactions } of stripe.disputes.list({ limit: 100 })) {
    for (const { amount } of balance_transactions) count(payment_intent, -amount);
  }
  return sums;
}
