/** The newest entries of a ledger, as `GET /v1/billing` shows them. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findRecentEntries } from './ledger.sql.ts';
import { entryOf, filterEntries } from './list-entries.ts';
import { type LedgerEntry, RECENT_ENTRIES_MAX, RECORD_TEXT_MAX } from './posting.ts';
import { beginningOf, readLedgerPage } from './walk-ledger.ts';

/** Newest first. By one statement, unless the tenant has been idle for so long that they are in the archive. */
export async function listRecentEntries(db: Db, tenant: TenantId): Promise<LedgerEntry[]> {
  const recent = await findRecentEntries(db, tenant);
  if (!recent.some(({ isArchived }) => isArchived)) return recent.map(({ isArchived, ...entry }) => entry);
  const period = { from: undefined, to: undefined };
  const all = { kinds: undefined, room: undefined, participant: undefined, ...period };
  const filter = await filterEntries(db, tenant, all);
  const { lines } = await readLedgerPage(db, tenant, filter, beginningOf(filter), RECENT_ENTRIES_MAX);
  return lines.map((line) => {
    const { kind, amount, capped, reference, detail, at } = entryOf(line);
    const shown = line.record ? [reference, detail].map(shorten) : [reference, detail];
    return { kind, amount, capped, reference: shown[0] ?? null, detail: shown[1] ?? null, at };
  });
}

/** In characters, as the statement shortens texts. */
function shorten(text: string | null): string | null {
  const characters = [...(text ?? '')];
  if (characters.length <= RECORD_TEXT_MAX) return text;
  return `${characters.slice(0, RECORD_TEXT_MAX - 1).join('')}…`;
}
