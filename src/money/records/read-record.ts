/** Usage records with what their postings say of them. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { RecordRow } from './find-records.sql.ts';

/** Absent: of all tenants; from the first, and up to the last. With a time, records without a posting are left out. */
export interface RecordsRead {
  readonly tenant?: TenantId | undefined;
  /** Those that were charged from `from` on and before `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** What a record has of its posting. */
export interface OfPosting {
  readonly kind: 'usage' | 'unbilled';
  readonly at: Date;
  readonly rateVersion: number;
  readonly ruleVersion: number;
  /** One letter, as stored: c, r, or u for unknown. */
  readonly rounding: string;
  readonly carry: bigint;
}

interface OfTenant extends RecordRow {
  readonly tenant: TenantId;
  /** On the last record of a posting: the ids that the posting names as its newest. */
  readonly newestIds: readonly string[] | null;
}

export type PostedRecord = OfTenant & OfPosting;

/** A usage record with its posting, whose columns are null if it is missing. */
export type ReadRecord = PostedRecord | (OfTenant & { readonly [Column in keyof OfPosting]: null });
