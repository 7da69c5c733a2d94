/**
 * The provider's payouts of a month, reconciled with what is booked here, both ways.
 *
 * Each payment, refund and dispute that a payout consists of must be booked here with its amount. Each one that
 * is booked here must have moved money at the provider, and must have been paid out once it was available.
 */
import type Stripe from 'stripe';
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import { batchesOf } from '../../base/lib/batches.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { displayMicros } from '../amount.ts';
import { endOf, type Month, startOf } from '../month.ts';
import { findAtProvider } from '../payments/provider.ts';
import { idOf } from '../reversals/reversal.ts';
import { isComplete } from '../statements/statement.ts';
import {
  isBookedAs,
  isReturned,
  type Movement,
  type PayoutSums,
  readMovement,
  sumTransactions,
  unknownSums,
} from './payout.ts';
import { type BookedMoney, findBookedMoney, listBookedMoney } from './payout-book.sql.ts';

/** The most objects that the provider lists at once. */
const PAGE = 100;
const BATCH = 1_000;

/** A payout takes what was available when it was made. A day is left for the provider's own order of work. */
const PAID_OUT_WITHIN_MS = 86_400_000;

export interface ReportedPayout {
  readonly payout: Stripe.Payout;
  readonly sums: PayoutSums;
}

export interface PayoutDifference {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** Money of ours that is still in the provider's balance, in the smallest unit of its currency. */
export interface Waiting {
  readonly currency: string;
  transactions: number;
  net: number;
}

export interface Reconciliation {
  readonly month: Month;
  readonly soFar: boolean;
  /** By arrival at the bank, the earliest first. */
  readonly payouts: readonly ReportedPayout[];
  readonly waiting: readonly Waiting[];
  readonly differences: readonly PayoutDifference[];
}

/** Keeps ids only. Fails with `invalid_request` for a month that has not begun. */
export async function reconcilePayouts(db: Db, stripe: Stripe, month: Month): Promise<Reconciliation> {
  const soFar = !isComplete(month, await findNow(db));
  const run = new Reconciler(db, stripe, month);
  await run.readPayouts();
  await run.readBalance();
  await run.readBooked();
  const waiting = [...run.waiting.values()];
  return { month, soFar, payouts: run.payouts, waiting, differences: run.differences };
}

class Reconciler {
  readonly payouts: ReportedPayout[] = [];
  readonly waiting = new Map<string, Waiting>();
  readonly differences: PayoutDifference[] = [];
  readonly #db: Db;
  readonly #stripe: Stripe;
  readonly #month: Month;
  /** Transactions of the payouts. */
  readonly #paidOut = new Set<string>();
  /** Payments, refunds and disputes that the provider has moved money for. */
  readonly #moved = new Set<string>();
  /** By currency: until when money must have been available to be in one of the payouts. */
  readonly #dueBefore = new Map<string, Date>();
  /** Currencies with a payout whose transactions are not known: it may hold what seems to be missing. */
  readonly #untold = new Set<string>();

  constructor(db: Db, stripe: Stripe, month: Month) {
    this.#db = db;
    this.#stripe = stripe;
    this.#month = month;
  }

  /** What the provider paid must be booked here. */
  async readPayouts(): Promise<void> {
    const arrived = this.#stripe.payouts.list({ arrival_date: this.#period(), limit: PAGE });
    for await (const payout of arrived) {
      const transactions = await this.#readTransactions(payout);
      const sums = transactions ? sumTransactions(transactions) : unknownSums(payout);
      this.payouts.push({ payout, sums });
      if (!transactions) {
        this.#untold.add(payout.currency);
        continue;
      }
      if (sums.net !== payout.amount) {
        this.#differ(`transactions of payout ${payout.id}`, `${payout.amount}`, `${sums.net}`);
      }
      const movements = transactions.flatMap((each) => readMovement(each) ?? []);
      const booked = await this.#findBooked(movements);
      for (const movement of movements) {
        this.#paidOut.add(movement.transaction);
        this.#checkBooked(movement, booked, payout);
      }
      this.#noteDue(payout);
    }
    // The provider lists the newest first.
    this.payouts.reverse().sort((one, other) => one.payout.arrival_date - other.payout.arrival_date);
  }

  /** Our part of the money that came into the balance or left it in the month must be paid out in time. */
  async readBalance(): Promise<void> {
    const transactions = this.#stripe.balanceTransactions.list({
      created: this.#period(),
      limit: PAGE,
      expand: ['data.source'],
    });
    for await (const batch of batchesOf(BATCH, transactions)) {
      const movements = batch.flatMap((each) => readMovement(each) ?? []);
      const booked = await this.#findBooked(movements);
      for (const movement of movements) {
        const isOurs = movement.id !== undefined && booked.has(movement.id);
        if (isOurs) this.#moved.add(movement.id);
        if (isOurs && !this.#paidOut.has(movement.transaction)) this.#checkPaidOut(movement);
      }
    }
  }

  /** What is booked here must have moved money at the provider. */
  async readBooked(): Promise<void> {
    for (let after = ''; ; ) {
      const booked = await listBookedMoney(this.#db, this.#month, { after, limit: BATCH });
      for (const each of booked) {
        if (this.#moved.has(each.id)) continue;
        // It may be of another month there.
        if (await hasMoved(this.#stripe, each)) continue;
        const amount = each.kind === 'payment' ? each.added : -each.removed;
        this.#differ(describe(each), `${displayMicros(amount)} of the balance`, 'no money moved');
      }
      if (booked.length < BATCH) return;
      after = booked.at(-1)!.id;
    }
  }

  /** Without the payout's own transaction. `undefined`: the provider does not tell them. */
  async #readTransactions(payout: Stripe.Payout): Promise<Stripe.BalanceTransaction[] | undefined> {
    if (payout.reconciliation_status !== 'completed') {
      const found = payout.automatic ? 'not known yet' : 'not known: it was requested by hand';
      this.#differ(`transactions of payout ${payout.id}`, 'a list', found);
      return undefined;
    }
    const transactions: Stripe.BalanceTransaction[] = [];
    for await (const each of this.#stripe.balanceTransactions.list({
      payout: payout.id,
      limit: PAGE,
      expand: ['data.source'],
    })) {
      if (each.id !== idOf(payout.balance_transaction)) transactions.push(each);
    }
    return transactions;
  }

  async #findBooked(movements: readonly Movement[]): Promise<ReadonlyMap<string, BookedMoney>> {
    const ids = movements.flatMap(({ id }) => id ?? []);
    return new Map((await findBookedMoney(this.#db, ids)).map((each) => [each.id, each]));
  }

  #checkBooked(movement: Movement, all: ReadonlyMap<string, BookedMoney>, { id }: Stripe.Payout): void {
    const booked = movement.id === undefined ? undefined : all.get(movement.id);
    if (booked && isBookedAs(movement, booked)) return;
    const { kind, amount, transaction } = movement;
    const what = `${kind} ${movement.id ?? `of ${transaction}`} in payout ${id}`;
    const found = booked
      ? `${displayMicros(booked.added)} in, ${displayMicros(booked.removed)} out`
      : 'not booked';
    this.#differ(what, amount === undefined ? 'booked' : displayMicros(amount), found);
  }

  #checkPaidOut(movement: Movement): void {
    const { kind, id, availableAt, currency, net } = movement;
    const due = this.#dueBefore.get(currency);
    if (due && availableAt <= due && !this.#untold.has(currency)) {
      this.#differ(`${kind} ${id}`, 'in a payout', `available since ${availableAt.toISOString()}`);
      return;
    }
    const waiting = this.waiting.get(currency) ?? { currency, transactions: 0, net: 0 };
    waiting.transactions += 1;
    waiting.net += net;
    this.waiting.set(currency, waiting);
  }

  #noteDue(payout: Stripe.Payout): void {
    if (isReturned(payout)) return;
    const due = new Date(payout.created * 1000 - PAID_OUT_WITHIN_MS);
    const known = this.#dueBefore.get(payout.currency);
    if (!known || known < due) this.#dueBefore.set(payout.currency, due);
  }

  #period(): { gte: number; lt: number } {
    return { gte: startOf(this.#month).getTime() / 1000, lt: endOf(this.#month).getTime() / 1000 };
  }

  #differ(what: string, expected: string, found: string): void {
    this.differences.push({ what, expected, found });
  }
}

async function hasMoved(stripe: Stripe, { kind, id }: BookedMoney): Promise<boolean> {
  switch (kind) {
    case 'payment': {
      const intent = await findAtProvider(() =>
        stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] }),
      );
      const charge = intent?.latest_charge;
      return typeof charge === 'object' && Boolean(charge?.balance_transaction);
    }
    case 'refund':
      return Boolean((await findAtProvider(() => stripe.refunds.retrieve(id)))?.balance_transaction);
    case 'dispute': {
      const dispute = await findAtProvider(() => stripe.disputes.retrieve(id));
      return (dispute?.balance_transactions ?? []).length > 0;
    }
  }
}

function describe({ kind, id, tenant }: BookedMoney): string {
  return `${kind} ${id} of ${renderTenantId(tenant)}`;
}
