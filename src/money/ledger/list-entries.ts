/** The ledger of a tenant, entry by entry. Source: specification 2.3. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerFilter, LedgerLine, PostingKind } from './ledger-line.ts';
import { ENTRY_KINDS, type EntryKind, type LedgerEntry } from './posting.ts';
import { findSeqs } from './walk-ledger.sql.ts';

export interface EntryQuery {
  readonly kinds: readonly EntryKind[] | undefined;
  readonly room: string | undefined;
  readonly participant: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** An entry, and the posting that it is, or is part of. */
export interface ListedEntry extends LedgerEntry {
  /** The id of the record that it charges, if it is usage. */
  readonly id: string | undefined;
  /** The id of the payment, also for what was taken or given back of it. */
  readonly payment: string | undefined;
  /** The number of the posting. */
  readonly seq: bigint;
  /** Micros after the posting. */
  readonly balanceAfter: bigint;
}

export async function filterEntries(
  db: Db,
  tenant: TenantId,
  { kinds = ENTRY_KINDS, room, participant, ...period }: EntryQuery,
): Promise<LedgerFilter> {
  const ofRecords = room !== undefined || participant !== undefined;
  const asked: readonly PostingKind[] = ofRecords ? kinds.filter((kind) => kind === 'usage') : kinds;
  return { kinds: asked, room, participant, ...(await findSeqs(db, tenant, period)) };
}

export function entryOf({ posting, record }: LedgerLine): ListedEntry {
  return {
    // Entries are never asked for with the kind `unbilled`.
    kind: posting.kind as EntryKind,
    amount: record ? -record.amount : posting.amount,
    capped: record?.capped ?? false,
    reference: record ? record.room : posting.reference,
    detail: record ? record.participant : posting.detail,
    at: posting.at,
    id: record?.id,
    payment: posting.paymentId ?? undefined,
    seq: posting.seq,
    balanceAfter: posting.balance,
  };
}
