/** SQL that stores the records of postings. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Statement } from '../../base/db/pipeline.ts';
import { violatesUnique } from '../../base/db/transaction.ts';
import { type Buffers, COPIED_COLUMNS, copyRows, type PostedRecords } from './copy-rows.ts';

/** An id that was assumed to be new was accepted before. */
export class KnownIdError extends Error {
  override readonly name = 'KnownIdError';
}

/**
 * Store the records of postings by COPY, PostgreSQL's fastest import. `buffers` may be given back once it is done.
 *
 * One known id fails the whole COPY with `KnownIdError`.
 */
export function copyRecords(postings: readonly PostedRecords[], buffers: Buffers): Statement {
  return {
    name: 'copy usage_records',
    text: `copy usage_records (${COPIED_COLUMNS}) from stdin (format binary)`,
    copyData: copyRows(postings, buffers),
    // The table has no other unique key. If it is partitioned, PostgreSQL names the key of the partition.
    explain: (error) =>
      isKnownId(error) ? new KnownIdError('an id was accepted before', { cause: error }) : error,
  };
}

/** A worker's refusal of a COPY comes through the coordinator without its code. */
function isKnownId(error: unknown): boolean {
  if (violatesUnique(error)) return true;
  const { detail } = error as { readonly detail?: string };
  return isDistributed() && /^Key \(tenant_id, id\)=.* already exists/.test(detail ?? '');
}
