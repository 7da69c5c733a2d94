/** Tells which of the ids that are reported may be those of archived records. */
import type { Db } from '../../../base/db/pool.ts';
import type { BaseDeps } from '../../../base/deps.ts';
import { countsAsPaid, renderTenantId } from '../../../base/tenants/tenant.ts';
import type { Account } from '../../accounts/accounts.sql.ts';
import { type ChunkNumbers, findChunkNumbers } from './find-chunk-numbers.ts';
import type { KnownFilters } from './known-filters.ts';

/** `db` loads filters, beside the transactions that charge. */
export interface KnownIdDeps extends Pick<BaseDeps, 'db' | 'log'> {
  readonly knownFilters: KnownFilters;
}

/** The account of a tenant. */
export type ArchivingAccount = Pick<Account, 'tenant' | 'archivedSeq' | 'status'>;

/**
 * The hashes of ids that may be archived, with the chunks that may have their records. Reliable only while the account is locked, whose
 * `archivedSeq` is given: the last posting whose records are archived, 0 if none are. Fails with `DamagedPageError`.
 */
export async function findSuspects(
  { db, log, knownFilters }: KnownIdDeps,
  /** Where it is asked. */
  asked: Db,
  { tenant, archivedSeq, status }: ArchivingAccount,
  hashes: Float64Array,
): Promise<ChunkNumbers> {
  if (archivedSeq === 0n) return new Map();
  const hasPaid = countsAsPaid(status);
  if (!knownFilters.covers(tenant, archivedSeq)) {
    knownFilters.load(db, tenant, archivedSeq, hasPaid).catch((err: unknown) => {
      log.warn({ err, tenant: renderTenantId(tenant) }, 'a filter of archived ids was not loaded');
    });
    return findChunkNumbers(asked, tenant, hashes);
  }
  return findChunkNumbers(asked, tenant, knownFilters.suspects(tenant, hashes, hasPaid));
}
