/** Rules of automatic top-ups: a card is charged while its tenant wants it, and whenever the tenant wants it (docs/top-ups.md). */
import { tenantOf } from '../database.ts';
import type { Facts, Ledger, Posting } from '../facts.ts';
import type { Entry } from '../journal.ts';
import { possibleAt } from '../possible.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';
import { isClockWrong, readTimes, type Times } from '../times.ts';

export const TOP_UP_RULES: readonly Rule[] = [
  { name: 'a top-up is sent while it is on, for a card that paid, below its threshold', check: checkSent },
  { name: 'a top-up that is due comes', check: checkDue },
];

const MICROS_OF_A_CENT = 10_000n;

/** An attempt that was open when it was due may have ended in the transaction after it, which has waited for the account. */
const FAIR_US = 60_000_000;

/** Times in microseconds of the journal. */
interface Attempt {
  readonly id: string;
  readonly amount: bigint;
  readonly state: string;
  readonly createdUs: number;
  /** When it was first sent, and the last time that it was sent again. */
  readonly sentUs: readonly number[];
  /** Infinity: it is open. */
  readonly finishedUs: number;
  readonly payment: string | null;
}

/** What is known of the top-ups of a tenant. */
interface TopUps {
  readonly ledger: Ledger;
  readonly changes: readonly Entry[];
  readonly attempts: readonly Attempt[];
  readonly times: Times;
}

async function* topUps(facts: Facts, look: Look): AsyncGenerator<TopUps> {
  const times = await readTimes(facts);
  if (!times) return look.leaveOut('no signup shows when it was by the clock of the database');
  const changes = Map.groupBy(withoutRepetitions(facts.of('auto_top_up.set')), ({ args }) => args.tenant!);
  const attempts = await readAttempts(facts, times);
  for await (const ledger of facts.ledgers()) {
    const { tenant } = ledger;
    const all = { changes: changes.get(tenant) ?? [], attempts: attempts.get(tenant) ?? [] };
    yield { ledger, times, ...all };
  }
}

async function readAttempts(facts: Facts, times: Times): Promise<Map<string, Attempt[]>> {
  const rows = await facts.db.rows(`select *, ${tenantOf('tenant_id')} as tenant from top_up_attempts`);
  const attempts = rows.map((row) => ({
    tenant: row.tenant!,
    id: row.id!,
    amount: BigInt(row.amount!),
    state: row.state!,
    createdUs: times.of(row.created_at!),
    sentUs: [row.first_sent_at, row.resent_at].flatMap((time) => (time ? [times.of(time)] : [])),
    finishedUs: row.finished_at ? times.of(row.finished_at) : Number.POSITIVE_INFINITY,
    payment: row.payment_id!,
  }));
  return Map.groupBy(attempts, ({ tenant }) => tenant);
}

const isOn = (change: Entry | undefined) => change?.args.enabled === true;
const belowOf = (change: Entry | undefined) => BigInt(change?.args.below_cents ?? 0) * MICROS_OF_A_CENT;
const amountOf = (change: Entry | undefined) => BigInt(change?.args.amount_cents ?? 0) * MICROS_OF_A_CENT;

/** Under the lock of the account, each time before it is sent. */
async function checkSent(facts: Facts, look: Look): Promise<void> {
  const paid = Map.groupBy(facts.of('checkout.paid'), ({ args }) => args.tenant!);
  for await (const { ledger, changes, attempts, times } of topUps(facts, look)) {
    const { tenant, postings } = ledger;
    for (const { id, amount, state, sentUs, payment } of attempts) {
      const where = `${id} of ${tenant}`;
      look.at();
      if (sentUs.length === 0 && state === 'succeeded') look.wrong(`${where} was paid, and never sent`);
      for (const us of sentUs.filter((each) => !isClockWrong(facts, each))) {
        const on = possibleAt(changes, us - times.nearUs, us + times.nearUs).filter(isOn);
        const same = on.filter((change) => amountOf(change) === amount);
        const balances = balancesSince(postings, us, payment, times);
        if (on.length === 0) look.wrong(`${where} was sent while top-ups were off`);
        else if (same.length === 0) look.wrong(`${where} was sent for ${amount}, which was not set`);
        else if (!same.some((change) => balances.some((each) => each < belowOf(change))))
          look.wrong(`${where} was sent, though the balance was ${balances.join(', ')}`);
        if (!paid.get(tenant)?.some(({ invokedUs }) => invokedUs <= us + times.nearUs))
          look.wrong(`${where} was sent, and no card had paid`);
      }
    }
  }
}

/** What the balance was then, and what it became until the payment: a look at it may have waited for others. */
function balancesSince(
  postings: readonly Posting[],
  us: number,
  payment: string | null,
  times: Times,
): readonly bigint[] {
  const credit = postings.findIndex((posting) => payment !== null && posting.payment === payment);
  const before = postings.slice(0, credit === -1 ? postings.length : credit);
  const first = before.findLastIndex(({ at }) => times.of(at) <= us);
  const balances = before.slice(Math.max(first, 0)).map(({ balance }) => balance);
  return first === -1 ? [0n, ...balances] : balances;
}

/** Those of `payment_settings` that are not stopped by what no journal has. */
async function readChargeable(facts: Facts): Promise<ReadonlySet<string>> {
  const rows = await facts.db.rows(
    `select ${tenantOf('tenant_id')} as tenant from payment_settings
      where payment_method_id is not null and parked_payments = '{}' and card_member is null`,
  );
  // A dispute stops them until it is won or an operator says so.
  const disputed = new Set(facts.of('provider.disputed').map(({ args }) => args.payment));
  const charged = facts.of('provider.charged').filter(({ args }) => disputed.has(args.payment));
  const stopped = new Set(charged.map(({ args }) => args.metadata?.tenant));
  return new Set(rows.map(({ tenant }) => tenant!).filter((tenant) => !stopped.has(tenant)));
}

/** A batch that leaves too little opens an attempt, unless one is open. */
async function checkDue(facts: Facts, look: Look): Promise<void> {
  const chargeable = await readChargeable(facts);
  for await (const { ledger, changes, attempts, times } of topUps(facts, look)) {
    if (!chargeable.has(ledger.tenant)) continue;
    for (const posting of ledger.postings.filter(({ kind }) => kind === 'usage')) {
      const us = times.of(posting.at);
      const possible = possibleAt(changes, us - times.nearUs, us + times.nearUs);
      if (!possible.every((change) => isOn(change) && posting.balance < belowOf(change))) continue;
      const sinceUs = Math.min(...possible.map((change) => change!.invokedUs)) - times.nearUs;
      if (isClockWrong(facts, us) || isStopped(ledger, attempts, sinceUs, posting, times)) continue;
      look.at();
      if (!attempts.some((each) => each.createdUs <= us + FAIR_US && each.finishedUs >= us - FAIR_US)) {
        look.wrong(`${posting.seq} of ${ledger.tenant} left ${posting.balance}, and no top-up came`);
        break;
      }
    }
  }
}

/** What pauses top-ups until they are turned on again: an attempt that ended without a charge, or money that was taken back. */
function isStopped(
  { postings }: Ledger,
  attempts: readonly Attempt[],
  sinceUs: number,
  { seq, at }: Posting,
  times: Times,
): boolean {
  const untilUs = times.of(at) + times.nearUs;
  const hasFailed = ({ state, finishedUs }: Attempt) =>
    state !== 'succeeded' && finishedUs >= sinceUs && finishedUs <= untilUs;
  const hasGone = (each: Posting) =>
    (each.kind === 'refund' || each.kind === 'dispute') && each.seq < seq && times.of(each.at) >= sinceUs;
  return attempts.some(hasFailed) || postings.some(hasGone);
}
