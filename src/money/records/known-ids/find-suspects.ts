/** Tells which of the ids that are reported may be those of archived records. */
import type { Pool, Tx } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { type Candidate, findCandidates } from './find-candidates.ts';
import { hashIds, type Ids } from './id-hash.ts';
import type { KnownFilters } from './known-filters.ts';

export interface KnownIdDeps {
  /** Loads filters, beside the transactions that charge. */
  readonly db: Pool;
  readonly knownFilters: KnownFilters;
  /** Gets what makes a load of filters fail. */
  readonly onLoadError: (error: unknown) => void;
}

/**
 * The rows whose ids may be archived, with the chunks that may have their records. Called in the transaction that holds the lock of the
 * account, whose `archivedSeq` is given: the last posting whose records are archived, 0 if none are. Fails with `DamagedPageError`.
 */
export async function findSuspects(
  { db, knownFilters, onLoadError }: KnownIdDeps,
  tx: Tx,
  tenant: TenantId,
  archivedSeq: bigint,
  ids: Ids,
): Promise<readonly Candidate[]> {
  if (archivedSeq === 0n) return [];
  const hashes = hashIds(ids);
  if (!knownFilters.covers(tenant, archivedSeq)) {
    knownFilters.load(db, tenant, archivedSeq).catch(onLoadError);
    return findCandidates(tx, tenant, hashes);
  }
  const suspects = knownFilters.suspects(tenant, hashes);
  const found = await findCandidates(
    tx,
    tenant,
    suspects.map((row) => hashes[row]!),
  );
  return found.map(({ at, chunk }) => ({ at: suspects[at]!, chunk }));
}
