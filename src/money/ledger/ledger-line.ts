/** The lines of a ledger: its postings, and in place of a posting of usage its records. */
import type { Role, Tier } from '../pricing/role.ts';
import type { EntryKind } from './posting.ts';

export type PostingKind = EntryKind | 'unbilled';

/** Amounts are in micros. */
export interface LedgerPosting {
  readonly seq: bigint;
  readonly kind: PostingKind;
  readonly at: Date;
  readonly amount: bigint;
  /** The balance after it. */
  readonly balance: bigint;
  readonly reference: string | null;
  readonly detail: string | null;
  /** The payment that it credits, takes back or gives back; null for other kinds. */
  readonly paymentId: string | null;
  /** For usage: how many records, and what finds them. */
  readonly records: number | null;
  readonly insertedAt: string;
  /** All ids of a posting with few records; null for any other. */
  readonly ids: readonly string[] | null;
  /** For a large posting of usage: the page of the table in which its newest record lies. */
  readonly page: number | null;
}

export interface LedgerRecord {
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
  /** What it cost, in micros; never negative. */
  readonly amount: bigint;
  readonly capped: boolean;
}

/** `record` is present for usage. */
export interface LedgerLine {
  readonly posting: LedgerPosting;
  readonly record?: LedgerRecord;
}

/** Between two lines: what comes next has a smaller `seq`, or the same and a smaller `line`. */
export interface LedgerPlace {
  readonly seq: bigint;
  readonly line: number;
}

export interface LedgerFilter {
  readonly kinds: readonly PostingKind[];
  /** The postings from the first up to and with the last. */
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
  /** Only records with these. No posting without records has them. */
  readonly room?: string | undefined;
  /** A name, or several. */
  readonly participant?: string | readonly string[] | undefined;
  readonly role?: Role | undefined;
  readonly tier?: Tier | undefined;
}
