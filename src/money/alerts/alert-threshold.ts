/**
 * Thresholds of a tenant's credit: when an alert is raised, and when it ends.
 *
 * A threshold is a floor under the balance. One of credit has its amount as the floor; one of hours has what usage
 * takes in so many hours, measured again every few seconds. A balance below the floor raises the alert, once; a balance
 * of at least `recoverFrom` ends it. The database computes both from `below` and `burn`.
 */
import { invalidField } from '../../base/failure.ts';
import { type AlertMarks, NO_MARKS } from '../accounts/alert-marks.ts';

export const THRESHOLD_KINDS = ['balance', 'runway'] as const;
export type ThresholdKind = (typeof THRESHOLD_KINDS)[number];

export const THRESHOLDS_MAX = 10;
/** Above this, micros would not be a safe integer for clients. */
export const BELOW_MICROS_MAX = Number.MAX_SAFE_INTEGER;
/** A year. */
export const BELOW_HOURS_MAX = 8_760;
/** An alert of hours ends at so many times its floor: the burn moves all the time. The column `recover_from` has it. */
export const RUNWAY_RECOVERS_AT = 1.1;

/** What a tenant asks to be alerted about. */
export interface Threshold {
  readonly kind: ThresholdKind;
  /** Micros of credit; for `runway`, hours. */
  readonly below: bigint;
}

/** A threshold that is set. */
export interface SetThreshold extends Threshold {
  /** For `runway`: micros that usage takes in an hour. */
  readonly burn: bigint | null;
  /** Null: usage takes nothing, so that the credit lasts for ever. */
  readonly floor: bigint | null;
  readonly recoverFrom: bigint | null;
  /** Since when the balance is below the floor; null: it is not. */
  readonly raisedAt: Date | null;
}

/** The thresholds that this balance raises or ends, in the order in which a balance that moves passes them. */
export function findCrossed<Each extends SetThreshold>(thresholds: readonly Each[], balance: bigint): Each[] {
  const recovered = thresholds.filter(
    ({ raisedAt, recoverFrom }) => raisedAt !== null && (recoverFrom === null || balance >= recoverFrom),
  );
  const raised = thresholds.filter(
    ({ raisedAt, floor }) => raisedAt === null && floor !== null && balance < floor,
  );
  return [
    ...recovered.sort((a, b) => compare(a.recoverFrom ?? 0n, b.recoverFrom ?? 0n)),
    ...raised.sort((a, b) => compare(b.floor!, a.floor!)),
  ];
}

/** The marks of thresholds of which these have just been crossed. */
export function marksOf(thresholds: readonly SetThreshold[], crossed: readonly SetThreshold[]): AlertMarks {
  let { alertBelow, recoverFrom } = NO_MARKS;
  for (const each of thresholds) {
    const isRaised = (each.raisedAt !== null) !== crossed.includes(each);
    if (isRaised) {
      if (each.recoverFrom !== null && (recoverFrom === null || each.recoverFrom < recoverFrom)) {
        recoverFrom = each.recoverFrom;
      }
    } else if (each.floor !== null && (alertBelow === null || each.floor > alertBelow)) {
      alertBelow = each.floor;
    }
  }
  return { alertBelow, recoverFrom };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

/** As requests carry it: which of the two amounts it has depends on its kind. */
export interface GivenThreshold {
  readonly kind: ThresholdKind;
  readonly below_micros?: number;
  readonly below_hours?: number;
}

const FIELDS = { balance: 'below_micros', runway: 'below_hours' } as const;

/** Fails with `invalid_request`. */
export function parseThresholds(given: readonly GivenThreshold[]): Threshold[] {
  const thresholds = given.map((each, at) => {
    const own = FIELDS[each.kind];
    const other = FIELDS[each.kind === 'balance' ? 'runway' : 'balance'];
    if (each[other] !== undefined) throw invalidField(`thresholds/${at}/${other}`, `is not of ${each.kind}`);
    const below = each[own];
    if (below === undefined) throw invalidField(`thresholds/${at}/${own}`, 'is required');
    return { kind: each.kind, below: BigInt(below) };
  });
  const seen = new Set<string>();
  for (const [at, { kind, below }] of thresholds.entries()) {
    if (seen.has(`${kind} ${below}`)) throw invalidField(`thresholds/${at}`, 'is there twice');
    seen.add(`${kind} ${below}`);
  }
  return thresholds;
}
