/** What participants used, by posting. */
import type { Tier } from '../pricing/role.ts';

/** What the records of one posting, room, participant and tier add up to. */
export interface ParticipantSum {
  readonly seq: bigint;
  readonly room: string | null;
  readonly participant: string | null;
  readonly tier: Tier;
  readonly records: bigint;
  readonly seconds: bigint;
  /** The seconds of the longest record. */
  readonly longest: number;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  /** In micros; of an unbilled posting, what it would have cost. */
  readonly amount: bigint;
}
