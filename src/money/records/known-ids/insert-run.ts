/** Notes the ids of records that are archived. */
import type { Tx } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { chooseRuns } from './choose-runs.ts';
import { listRuns, lockMerges } from './known-ids.sql.ts';
import { mergeInto } from './merge-runs.ts';

/** A merge with more entries would hold up the charges that wait for the account, so it is left to `mergeRuns()`. */
const MERGED_AT_ONCE_MAX = 50_000;

export interface ArchivedIds {
  /** In any order. */
  readonly hashes: Float64Array;
  /** The chunk that has the records: a whole number below 2^32. */
  readonly chunk: number;
  /** The last posting that is archived after the transaction. */
  readonly lastSeq: bigint;
}

/**
 * Add a run with the ids of a chunk, and merge it with small runs. Called in the transaction that archives the chunk, under the lock on
 * the account. Returns whether `mergeRuns()` has larger runs to merge.
 */
export async function insertRun(
  tx: Tx,
  tenant: TenantId,
  { hashes, chunk, lastSeq }: ArchivedIds,
): Promise<boolean> {
  const mayMerge = await lockMerges(tx, tenant);
  const runs = await listRuns(tx, tenant);
  const own = { run: Math.max(0, ...runs.map(({ run }) => run)) + 1, entries: hashes.length, lastSeq };
  const all = [...runs, own].toSorted((one, other) => one.entries - other.entries);
  const sizes = all.map(({ entries }) => entries);
  const chosen = mayMerge ? all.slice(0, chooseRuns(sizes, MERGED_AT_ONCE_MAX)) : [];
  const merged = chosen.includes(own) ? chosen.filter((each) => each !== own) : [];
  await mergeInto(tx, tenant, own.run, merged, [sourceOf(hashes, chunk)], lastSeq);
  return chooseRuns(sizes) > chosen.length;
}

function sourceOf(hashes: Float64Array, chunk: number) {
  return {
    hashes: hashes.toSorted(),
    chunks: new Array<number>(hashes.length).fill(chunk),
    at: 0,
    next: async () => false,
  };
}
