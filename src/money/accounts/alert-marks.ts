/** What a charge compares a balance with, to know whether an alert begins or ends. */

/** Which balances change the thresholds of a tenant. A charge compares its balance with these two. */
export interface AlertMarks {
  /** A balance below this raises an alert; null: none does. */
  readonly alertBelow: bigint | null;
  /** A balance of at least this ends one. */
  readonly recoverFrom: bigint | null;
}

export const NO_MARKS: AlertMarks = { alertBelow: null, recoverFrom: null };

export function isCrossing({ alertBelow, recoverFrom }: AlertMarks, balance: bigint): boolean {
  return (alertBelow !== null && balance < alertBelow) || (recoverFrom !== null && balance >= recoverFrom);
}
