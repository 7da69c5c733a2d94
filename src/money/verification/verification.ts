/** A verification that an operator started at the console. */

/** A difference, as pages show it: the tenant as `t_<16 hex>`. */
export interface ShownDifference {
  readonly tenant: string;
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export interface Verification {
  readonly id: string;
  readonly operator: string;
  readonly startedAt: Date;
  readonly step: string;
  /** Records whose charge was computed again, of how many. */
  readonly done: bigint;
  readonly total: bigint;
  readonly finishedAt: Date | null;
  /** `null`: it failed, or goes on. */
  readonly differences: number | null;
  /** The first differences. */
  readonly shown: readonly ShownDifference[] | null;
  readonly error: string | null;
}
