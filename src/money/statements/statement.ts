/**
 * The statement of a month: what was in the account, what came in, what went out, and what is left.
 *
 * Amounts are in micros. `closing` is `opening`, the sums of payments, reversals, adjustments and grants, less what usage cost.
 */
import { invalidRequest } from '../../base/failure.ts';
import type { Tenant } from '../../base/tenants/tenant.ts';
import { type TimeZone, UTC } from '../calendar/time-zone.ts';
import type { EntryKind } from '../ledger/posting.ts';
import { endOf, type Month, startOf } from '../month.ts';
import type { Measures } from '../usage/usage-summary.ts';
import type { BillingDetails } from './billing-details.ts';

/**
 * How long after its end the statement of a month is there. The time of a posting is taken before its commit, and no
 * transaction of the service takes nearly as long.
 */
export const READY_MINUTES = 15;

/** Whether all postings of the month, in UTC, are committed. Fails with `invalid_request` if it has not begun. */
export function isComplete(of: Month, now: Date): boolean {
  if (now < startOf(of)) throw invalidRequest(`month ${of} has not begun`);
  return now >= readyAt(endOf(of));
}

/** From when on the statement of a month that ends then is there. */
export function readyAt(end: Date): Date {
  return new Date(end.getTime() + READY_MINUTES * 60_000);
}

/** Movements in each list. Those after them are added up. */
export const MOVEMENTS_MAX = 1_000;
/** The most expensive ones. The others are added up. */
export const ROOMS_MAX = 500;

/** Groups of the changes of a balance that are not usage, with their kinds. */
export const MOVEMENT_KINDS = {
  payments: ['top_up', 'auto_top_up'],
  reversals: ['refund', 'dispute'],
  adjustments: ['adjustment', 'correction'],
  grants: ['grant', 'grant_expired', 'grant_voided'],
} as const satisfies Record<string, readonly EntryKind[]>;

export type MovementGroup = keyof typeof MOVEMENT_KINDS;
export type MovementKind = (typeof MOVEMENT_KINDS)[MovementGroup][number];

export const MOVEMENT_GROUPS = Object.keys(MOVEMENT_KINDS) as MovementGroup[];

export interface Movement {
  readonly at: Date;
  readonly kind: MovementKind;
  /** Signed: what it added to the balance. */
  readonly amount: bigint;
  /** The provider's id of the payment, refund or dispute; the id of a grant; the operator's own id of an adjustment, if any. */
  readonly reference: string | undefined;
  /** For an adjustment or a grant, its reason. */
  readonly detail: string | undefined;
  /** For a reversal, the payment that it reverses. */
  readonly payment: string | undefined;
}

export interface Movements {
  /** The first ones, in the order of time. */
  readonly entries: readonly Movement[];
  /** Those that are not listed, if there are more than `MOVEMENTS_MAX`. */
  readonly others: { readonly count: bigint; readonly sum: bigint } | undefined;
  /** The sum of all of them. */
  readonly sum: bigint;
}

/** The part of the balance that was granted, and the rest of it was paid. */
export interface Granted {
  readonly opening: bigint;
  readonly closing: bigint;
}

/** Whether it begins and ends with the month in UTC. */
export function isOfUtc({ month, zone, from }: Pick<Statement, 'month' | 'zone' | 'from'>): boolean {
  return zone === UTC && from.getTime() === startOf(month).getTime();
}

/** What usage, and debts of before, took from granted credit. */
export function spentOfGrants({ grants, granted }: Pick<Statement, 'grants' | 'granted'>): bigint {
  return granted.opening + grants.sum - granted.closing;
}

/** Without grants, a statement does not speak of them: it is as before there were any. */
export function hasGrants({ grants, granted }: Pick<Statement, 'grants' | 'granted'>): boolean {
  return grants.entries.length > 0 || granted.opening !== 0n;
}

export interface RoomUsage extends Measures {
  /** As reported; empty for records without one. */
  readonly room: string;
}

/** `amount` is what was charged. `unbilled` is what an exempt tenant would have been charged: it moved no balance. */
export interface StatementUsage {
  /** The most expensive first. */
  readonly rooms: readonly RoomUsage[];
  /** Those that are not listed, if there are more than `ROOMS_MAX`. */
  readonly others: ({ readonly rooms: bigint } & Measures) | undefined;
  /** The sums of all rooms. */
  readonly sum: Measures;
}

export interface Statement extends Readonly<Record<MovementGroup, Movements>> {
  /** The public address of the deployment. */
  readonly issuer: string;
  /** Those of the operator, as they are now. */
  readonly issuerDetails: BillingDetails;
  readonly tenant: Pick<Tenant, 'id' | 'name'> & {
    /** Those that held at the end of the month; if none were given by then, the first ones that were given later. */
    readonly details: BillingDetails;
  };
  readonly month: Month;
  /** In which it ends. It may have begun in another one. */
  readonly zone: TimeZone;
  readonly from: Date;
  /** What happened at that time is not in it. */
  readonly to: Date;
  /** The month is not over: the figures still change, and are not signed. */
  readonly soFar: boolean;
  readonly opening: bigint;
  readonly granted: Granted;
  readonly usage: StatementUsage;
  readonly closing: bigint;
}
