/** Usage records as they were charged and stored, and what finds those of a posting. */
import type { Role, Tier } from '../pricing/role.ts';

/** A posting names the newest ids of its records, so many at most. */
export const NAMED_IDS_MAX = 50;

export interface ChargedRecord {
  /** The number of its posting, and its place among the records of the posting, from 0. */
  readonly seq: bigint;
  readonly line: number;
  readonly id: string;
  readonly room: string | null;
  readonly participant: string | null;
  readonly role: Role;
  readonly tier: Tier;
  readonly seconds: number;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  /** What it cost, in micros; never negative. Of an unbilled posting, what it would have cost. */
  readonly amount: bigint;
  readonly capped: boolean;
}

/** Only records with these. */
export interface RecordFilter {
  readonly room?: string | undefined;
  /** A name, or several. */
  readonly participant?: string | readonly string[] | undefined;
  readonly role?: Role | undefined;
  readonly tier?: Tier | undefined;
}

/** A posting, and what finds its records. */
export interface RecordsPlace {
  readonly seq: bigint;
  /** How many there are; null if it is not of usage. */
  readonly records: number | null;
  readonly insertedAt: string;
  /** All ids of a posting with few records; null for any other. */
  readonly ids: readonly string[] | null;
  /** For a large posting of usage: the page of the table in which its newest record lies. */
  readonly page: number | null;
}

/** A posting whose records are to be added up. */
export interface SummedPosting extends Omit<RecordsPlace, 'ids'> {
  /** It has few records, and names their ids. */
  readonly isNamed: boolean;
}
