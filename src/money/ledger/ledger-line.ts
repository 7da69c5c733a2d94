/** The lines of a ledger: its postings, and in place of a posting of usage its records. */
import type { ChargedRecord, RecordFilter, RecordsPlace } from '../records/charged-record.ts';
import type { EntryKind } from './posting.ts';

export type PostingKind = EntryKind | 'unbilled';

/** Amounts are in micros. */
export interface LedgerPosting extends RecordsPlace {
  readonly kind: PostingKind;
  readonly at: Date;
  readonly amount: bigint;
  /** The balance after it. */
  readonly balance: bigint;
  readonly reference: string | null;
  readonly detail: string | null;
  /** The payment that it credits, takes back or gives back; null for other kinds. */
  readonly paymentId: string | null;
}

/** `record` is present for usage. */
export interface LedgerLine {
  readonly posting: LedgerPosting;
  readonly record?: ChargedRecord;
}

/** Between two lines: what comes next has a smaller `seq`, or the same and a smaller `line`. */
export interface LedgerPlace {
  readonly seq: bigint;
  readonly line: number;
}

/** With the fields of a record, no posting without records fits. */
export interface LedgerFilter extends RecordFilter {
  readonly kinds: readonly PostingKind[];
  /** The postings from the first up to and with the last. */
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
}
