/** Rules of payments: the provider's own book and the credits are one to one. */
import { tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import type { Args, Entry } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';

export const PROVIDER_RULES: readonly Rule[] = [
  { name: 'each payment at the provider is credited once, with what was taken back', check: checkPayments },
  { name: 'each credit was paid at the provider', check: checkCredits },
  { name: 'a payment has its postings', check: checkPostings },
  { name: 'a top-up charges the card once', check: checkAttempts },
  { name: 'who paid is who is credited, with what was asked for', check: checkPayers },
];

/** Cents are amounts at the provider, micros are ours. */
const MICROS_OF_A_CENT = 10_000n;

/** A payment in the book, in cents. */
interface Booked {
  readonly payment: string;
  readonly tenant: string | undefined;
  readonly attempt: string | undefined;
  readonly paid: bigint;
  readonly tax: bigint;
  readonly takenBack: bigint;
}

/** The last that the book says of each refund or dispute. */
function lastOf(entries: readonly Entry[], idOf: (entry: Entry) => string | undefined): readonly Entry[] {
  return [...new Map(entries.map((entry) => [idOf(entry), entry])).values()];
}

/** A refund that failed or was canceled took nothing. */
const TAKING = new Set(['succeeded', 'pending']);

function readBook(facts: Facts): readonly Booked[] {
  const refunds = lastOf(facts.of('provider.refunded'), ({ args }) => args.refund).filter(({ args }) =>
    TAKING.has(args.status ?? ''),
  );
  const disputes = lastOf(facts.of('provider.disputed'), ({ args }) => args.dispute);
  const back = Map.groupBy([...refunds, ...disputes], ({ args }) => args.payment);
  return lastOf(facts.of('provider.charged'), ({ args }) => args.payment).map(({ args }) => ({
    payment: args.payment!,
    tenant: args.metadata?.tenant,
    attempt: args.metadata?.attempt,
    paid: BigInt(args.amount!),
    tax: BigInt(args.tax ?? 0),
    takenBack: (back.get(args.payment) ?? []).reduce((sum, { args }) => sum + takenBy(args), 0n),
  }));
}

/** Cents. What a dispute has given back is not taken any more. */
const takenBy = ({ amount, moved }: Args) => BigInt(moved === undefined ? amount! : -moved);

/** The share of the credit in what was taken back, rounded down; never more than the credit. */
function netOf({ paid, tax, takenBack }: Booked): { credited: bigint; reversed: bigint } {
  const credited = (paid - tax) * MICROS_OF_A_CENT;
  const reversed = takenBack >= paid ? credited : (credited * takenBack) / paid;
  return { credited, reversed };
}

interface Credit {
  readonly id: string;
  readonly tenant: string;
  readonly credited: bigint;
  readonly reversed: bigint;
}

async function readCredits(facts: Facts): Promise<readonly Credit[]> {
  const rows = await facts.db.rows(
    `select id, ${tenantOf('tenant_id')} as tenant, credited, reversed from payments`,
  );
  return rows.map(({ id, tenant, credited, reversed }) => ({
    id: id!,
    tenant: tenant!,
    credited: BigInt(credited!),
    reversed: BigInt(reversed!),
  }));
}

/** A payment that an operator has to look at: its tenant was deleted, for instance. */
async function readParked(facts: Facts): Promise<ReadonlySet<string | null>> {
  const rows = await facts.db.rows(
    `select payment_id from provider_events where outcome = 'parked' and payment_id is not null`,
  );
  return new Set(rows.map(({ payment_id }) => payment_id!));
}

async function checkPayments(facts: Facts, look: Look): Promise<void> {
  const credits = new Map((await readCredits(facts)).map((credit) => [credit.id, credit]));
  const parked = await readParked(facts);
  for (const booked of readBook(facts)) {
    const credit = credits.get(booked.payment);
    if (!credit && parked.has(booked.payment)) continue;
    const { credited, reversed } = netOf(booked);
    const expected = `${credited} less ${reversed} of ${booked.tenant}`;
    const found = credit ? `${credit.credited} less ${credit.reversed} of ${credit.tenant}` : 'nothing';
    look.at();
    if (expected !== found) look.wrong(`${booked.payment} should be ${expected}, and is ${found}`);
  }
}

async function checkCredits(facts: Facts, look: Look): Promise<void> {
  const book = new Set(readBook(facts).map(({ payment }) => payment));
  for (const { id, tenant, credited } of await readCredits(facts)) {
    look.at();
    if (!book.has(id)) look.wrong(`${credited} of ${tenant} by ${id}, which the provider does not know`);
  }
}

async function checkPostings(facts: Facts, look: Look): Promise<void> {
  const credits = Map.groupBy(await readCredits(facts), ({ tenant }) => tenant);
  for await (const { tenant, postings } of facts.ledgers()) {
    const byPayment = Map.groupBy(
      postings.filter(({ payment }) => payment !== null),
      ({ payment }) => payment!,
    );
    for (const { id, credited, reversed } of credits.get(tenant) ?? []) {
      const own = byPayment.get(id) ?? [];
      byPayment.delete(id);
      const first = own.filter(({ kind }) => kind === 'top_up' || kind === 'auto_top_up');
      const sum = own.reduce((sum, { amount }) => sum + amount, 0n);
      look.at();
      if (first.length !== 1 || first[0]!.amount !== credited)
        look.wrong(`${id} of ${tenant} has ${first.length} credits of ${credited}`);
      else if (own[0] !== first[0]) look.wrong(`${id} of ${tenant} was taken back before it was credited`);
      if (sum !== credited - reversed)
        look.wrong(`${id} of ${tenant} moved ${sum}, not ${credited} less ${reversed}`);
    }
    for (const id of byPayment.keys()) look.wrong(`postings of ${tenant} name ${id}, which is no payment`);
  }
}

async function checkAttempts(facts: Facts, look: Look): Promise<void> {
  const charged = Map.groupBy(
    readBook(facts).filter(({ attempt }) => attempt !== undefined),
    ({ attempt }) => attempt!,
  );
  const rows = await facts.db.rows(
    `select id, ${tenantOf('tenant_id')} as tenant, amount, state, payment_id from top_up_attempts`,
  );
  for (const { id, tenant, amount, state, payment_id } of rows) {
    const payments = charged.get(id!) ?? [];
    charged.delete(id!);
    look.at();
    if (payments.length > 1) look.wrong(`${id} of ${tenant} charged the card ${payments.length} times`);
    if ((state === 'succeeded') !== payments.length > 0)
      look.wrong(`${id} of ${tenant} is ${state}, with ${payments.length} payments`);
    for (const { payment, paid, tenant: payer } of payments) {
      if (paid * MICROS_OF_A_CENT !== BigInt(amount!) || payer !== tenant || payment !== payment_id)
        look.wrong(
          `${id} of ${tenant} is ${amount} by ${payment_id}, and ${paid} cents by ${payment} of ${payer}`,
        );
    }
  }
  for (const attempt of charged.keys()) look.wrong(`${attempt} charged a card, and is not there`);
}

/** What the provider knows of a payment, the service has told it. Here requests, and the pages that buyers saw, say it. */
function checkPayers(facts: Facts, look: Look): void {
  const paid = new Map(facts.of('checkout.paid').map(({ args }) => [args.payment, args]));
  const pages = new Map(facts.of('checkout.create').map(({ args, answer }) => [answer?.session, args]));
  const topUps = facts.of('auto_top_up.set').filter(({ outcome }) => outcome !== 'refused');
  const set = new Set(topUps.map(({ args }) => `${args.tenant} ${args.amount_cents}`));
  const owners = new Map<string, string | undefined>();
  for (const { args } of lastOf(facts.of('provider.charged'), ({ args }) => args.payment)) {
    const { payment, customer, amount, tax = 0, metadata: { tenant, attempt } = {} } = args;
    const cents = Number(amount) - tax;
    const buyer = paid.get(payment);
    const asked = (buyer && pages.get(buyer.session)?.amount_cents) ?? cents;
    const owner = owners.get(customer ?? '') ?? tenant;
    if (customer) owners.set(customer, owner);
    look.at();
    if (!buyer && attempt === undefined) look.wrong(`${payment} of ${tenant} was paid by no one`);
    if (buyer && buyer.tenant !== tenant) look.wrong(`${payment} was paid by ${buyer.tenant}, for ${tenant}`);
    if (owner !== tenant) look.wrong(`${payment} of ${tenant} charged ${customer}, a customer of ${owner}`);
    if (asked !== cents) look.wrong(`${payment} of ${tenant} took ${cents} cents, of a page for ${asked}`);
    if (attempt !== undefined && !set.has(`${tenant} ${cents}`))
      look.wrong(`${attempt} of ${tenant} took ${cents} cents, which it never set`);
  }
}
