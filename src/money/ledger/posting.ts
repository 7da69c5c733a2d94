/**
 * Postings and ledger entries.
 *
 * A posting is one change of a balance. A charge is one posting for a whole batch of usage records;
 * the tenant's ledger lists those records one by one, as entries of kind `usage`.
 * Source: specification 2.3.
 */
import { NAMED_IDS_MAX } from '../records/charged-record.ts';

export const ENTRY_KINDS = [
  'usage',
  'top_up',
  'auto_top_up',
  'refund',
  'dispute',
  'adjustment',
  'correction',
  'grant',
  'grant_expired',
  'grant_voided',
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The longest room or participant, in characters: the ledger repeats both. Older records may have longer ones. */
export const RECORD_TEXT_MAX = 200;
/** How many entries `GET /v1/billing` shows: as many as postings name. */
export const RECENT_ENTRIES_MAX = NAMED_IDS_MAX;

/** `amount` is in micros, negative if credit was used up or taken back. */
export interface LedgerEntry {
  readonly kind: EntryKind;
  readonly amount: bigint;
  readonly capped: boolean;
  /** For usage, the reported room, if any; otherwise the cause of the entry. */
  readonly reference: string | null;
  /** For usage, the reported participant, if any. */
  readonly detail: string | null;
  readonly at: Date;
}

/** What the records of a posting with one room, role and tier add up to. Amounts are in micros. */
export interface UsageSum {
  /** As reported; empty if there was none. */
  readonly room: string;
  /** One letter each, as stored. */
  readonly role: string;
  readonly tier: string;
  readonly records: number;
  readonly seconds: number;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  readonly amount: bigint;
}
