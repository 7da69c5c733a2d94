/** All lines of a ledger that a filter lets through, as a stream of items. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { plainDollars } from '../../money/amount.ts';
import type { LedgerFilter, LedgerLine, LedgerPlace } from '../../money/ledger/ledger-line.ts';
import type { ListedEntry } from '../../money/ledger/list-entries.ts';
import { beginningOf, readStretch } from '../../money/ledger/walk-ledger.ts';
import type { Columns, ItemStream } from './item-stream.ts';

/** Large, because finding the records of the newest postings takes as long for few as for many. */
const STRETCH = 8_000;

/** The columns of entries of the ledger. */
export const ENTRY_COLUMNS = {
  at: ({ at }: ListedEntry) => at.toISOString(),
  kind: ({ kind }: ListedEntry) => kind,
  micros: ({ amount }: ListedEntry) => amount,
  dollars: ({ amount }: ListedEntry) => plainDollars(amount),
  capped: ({ capped }: ListedEntry) => capped,
  reference: ({ reference }: ListedEntry) => reference ?? '',
  detail: ({ detail }: ListedEntry) => detail,
  id: ({ id }: ListedEntry) => id,
  payment: ({ payment }: ListedEntry) => payment,
  posting_seq: ({ seq }: ListedEntry) => seq,
  balance_after_micros: ({ balanceAfter }: ListedEntry) => balanceAfter,
} satisfies Columns<ListedEntry>;

export function ledgerStream<T>(
  db: Db,
  tenant: TenantId,
  filter: LedgerFilter,
  render: (line: LedgerLine) => T,
): ItemStream<LedgerLine, LedgerPlace, T> {
  return {
    start: beginningOf(filter),
    render,
    read: async (place) => {
      const stretch = await readStretch(db, tenant, filter, place, STRETCH);
      return { items: stretch?.lines ?? [], next: stretch?.place };
    },
  };
}
