/**
 * Compares the provider's payments, their tax, refunds and disputes with those booked here, both ways.
 *
 * One whose provider event has not arrived yet shows as a difference: run it again a little later.
 */
import type Stripe from 'stripe';
import type { Db } from '../../base/db/pool.ts';
import { batchesOf } from '../../base/lib/batches.ts';
import { parseTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, microsOfCents } from '../amount.ts';
import { taxOf } from '../checkouts/find-tax.ts';
import { findAtProvider } from '../payments/provider.ts';
import { idOf, readDispute, readRefund, takenByDispute, takenByRefund } from '../reversals/reversal.ts';
import {
  type Booked,
  type BookedKind,
  findBooked,
  listBookedAfter,
  type Period,
} from './provider-book.sql.ts';
import type { Difference } from './verify.sql.ts';

/** The most objects that the provider lists at once. */
const PAGE = 100;
const BOOKED_PAGE = 1_000;

export interface Comparison {
  /**
   * Compare what the provider created and what changed here in this period, and what is still open.
   * Default: everything.
   */
  readonly period?: Period | undefined;
  /** Ends the comparison with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Keeps only the ids of our own payments, refunds and disputes in memory. */
export async function* compareWithProvider(
  db: Db,
  stripe: Stripe,
  comparison: Comparison = {},
): AsyncGenerator<Difference> {
  yield* compareBooks(db, paymentsOf(stripe), comparison);
  yield* compareBooks(db, taxesOf(stripe), comparison);
  yield* compareBooks(db, refundsOf(stripe), comparison);
  yield* compareBooks(db, disputesOf(stripe), comparison);
}

/** An object of the provider as it should be booked here. */
interface Expected {
  readonly id: string;
  /** The tenant that the object names; `undefined`: that of its payment. */
  readonly tenant: TenantId | undefined;
  readonly paymentId: string | undefined;
  /** Micros. */
  readonly amount: bigint;
}

/** One kind of object at the provider. */
interface Book<T> {
  readonly kind: BookedKind;
  list(params: Stripe.PaginationParams & { created?: Stripe.RangeQueryParam }): AsyncIterable<T>;
  retrieve(id: string): Promise<T | undefined>;
  /** `undefined`: it names no payment. */
  read(object: T): Expected | undefined;
}

function paymentsOf({ paymentIntents }: Stripe): Book<Stripe.PaymentIntent> {
  return {
    kind: 'payment',
    list: (params) => paymentIntents.list(params),
    retrieve: (id) => paymentIntents.retrieve(id),
    read: (intent) => ({
      id: intent.id,
      tenant: tenantOf(intent),
      paymentId: intent.id,
      amount: intent.status === 'succeeded' ? microsOfCents(intent.amount_received) : 0n,
    }),
  };
}

/** Other systems may share the provider account. Our payments name their tenant in the metadata. */
function tenantOf({ metadata }: Stripe.PaymentIntent): TenantId | undefined {
  return metadata.checkout || metadata.attempt ? parseTenantId(metadata.tenant ?? '') : undefined;
}

/** Tax is on the payment page. Without this, a payment of which tax was credited would not be noticed. */
function taxesOf({ checkout: { sessions } }: Stripe): Book<Stripe.Checkout.Session> {
  return {
    kind: 'tax',
    list: (params) => sessions.list({ ...params, status: 'complete' }),
    retrieve: async (id) => (await sessions.list({ payment_intent: id, limit: 1 })).data[0],
    read: (session) => {
      const id = idOf(session.payment_intent);
      const amount = session.payment_status === 'paid' ? taxOf(session) : 0n;
      return id === undefined ? undefined : { id, tenant: undefined, paymentId: id, amount };
    },
  };
}

function refundsOf({ refunds }: Stripe): Book<Stripe.Refund> {
  return {
    kind: 'refund',
    list: (params) => refunds.list(params),
    retrieve: (id) => refunds.retrieve(id),
    read: (object) => {
      const refund = readRefund(object);
      return { ...refund, tenant: undefined, amount: takenByRefund(refund) };
    },
  };
}

function disputesOf({ disputes }: Stripe): Book<Stripe.Dispute> {
  return {
    kind: 'dispute',
    list: (params) => disputes.list(params),
    retrieve: (id) => disputes.retrieve(id),
    read: (object) => {
      const dispute = readDispute(object);
      return { ...dispute, tenant: undefined, amount: takenByDispute(dispute) };
    },
  };
}

async function* compareBooks<T>(
  db: Db,
  book: Book<T>,
  { period, signal }: Comparison,
): AsyncGenerator<Difference> {
  const seen = new Set<string>();
  const created = period && { gte: secondsOf(period.since), lte: secondsOf(period.until) };
  for await (const objects of batchesOf(PAGE, book.list({ limit: PAGE, ...(created && { created }) }))) {
    signal?.throwIfAborted();
    const { differences, booked } = await compare(db, book, objects);
    for (const { id } of booked) seen.add(id);
    yield* differences;
  }
  for await (const booked of pagesOfBooked(db, book.kind, period)) {
    for (const each of booked) {
      if (seen.has(each.id)) continue;
      signal?.throwIfAborted();
      yield* await compareUnseen(db, book, each);
    }
  }
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

async function* pagesOfBooked(
  db: Db,
  kind: BookedKind,
  period: Period | undefined,
): AsyncGenerator<readonly Booked[]> {
  let after = '';
  for (;;) {
    const booked = await listBookedAfter(db, kind, { after, limit: BOOKED_PAGE, period });
    yield booked;
    if (booked.length < BOOKED_PAGE) return;
    after = booked.at(-1)!.id;
  }
}

/** The provider's list did not hold it: it is older than the period, newer than the list, or not there. */
async function compareUnseen<T>(db: Db, book: Book<T>, booked: Booked): Promise<readonly Difference[]> {
  const object = await findAtProvider(() => book.retrieve(booked.id));
  if (object) return (await compare(db, book, [object])).differences;
  return [differ(book.kind, booked, `no such ${book.kind}`, describe(book.kind, booked))];
}

async function compare<T>(
  db: Db,
  { kind, read }: Book<T>,
  objects: readonly T[],
): Promise<{ differences: readonly Difference[]; booked: readonly Booked[] }> {
  const expected = objects.flatMap((object) => read(object) ?? []);
  const booked = await findBooked(
    db,
    kind,
    expected.map(({ id }) => id),
  );
  const byId = new Map(booked.map((each) => [each.id, each]));
  const missing = expected.filter(({ id, amount }) => amount > 0n && !byId.has(id));
  const tenants = await findTenants(db, missing);
  const differences = expected.flatMap((each) => {
    const found = byId.get(each.id);
    const tenant = each.tenant ?? found?.tenant ?? tenants.get(each.paymentId ?? '');
    // Not one of ours: another system's, or one of a payment that is not credited here.
    if (!tenant || (!found && each.amount === 0n)) return [];
    const wanted = describe(kind, { ...each, tenant });
    const shown = found ? describe(kind, found) : kind === 'payment' ? 'not credited' : 'not booked';
    return shown === wanted ? [] : [differ(kind, { id: each.id, tenant }, wanted, shown)];
  });
  return { differences, booked };
}

/** The tenants of credited payments, by payment. */
async function findTenants(db: Db, expected: readonly Expected[]): Promise<Map<string, TenantId>> {
  const ids = expected.flatMap(({ tenant, paymentId }) => (tenant || !paymentId ? [] : [paymentId]));
  if (ids.length === 0) return new Map();
  return new Map((await findBooked(db, 'payment', ids)).map(({ id, tenant }) => [id, tenant]));
}

type Described = Pick<Expected, 'paymentId' | 'amount'> & { readonly tenant: TenantId };

function describe(kind: BookedKind, { tenant, paymentId, amount }: Described): string {
  const whose = kind === 'payment' ? `for ${renderTenantId(tenant)}` : `of ${paymentId}`;
  return `${displayMicros(amount)} ${whose}`;
}

function differ(
  kind: BookedKind,
  { id, tenant }: { id: string; tenant: TenantId },
  expected: string,
  found: string,
): Difference {
  return { tenant, what: `${kind} ${id} at the provider`, expected, found };
}
