/** Erases names of participants from the archive, chunk by chunk. */
import type { Tx } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { ERASED } from '../usage-record.ts';
import { packNames } from './chunk.ts';
import { findChunkAfter, lockArchive, replaceNames } from './chunks.sql.ts';

export interface ErasedChunk {
  /** Its number; `undefined`: there was none. */
  readonly last: number | undefined;
  /** How many records have lost each of the names. */
  readonly erased: ReadonlyMap<string, number>;
}

/** Erase these names from the tenant's first chunk with a number above `after`. */
export async function eraseInNextChunk(
  tx: Tx,
  tenant: TenantId,
  after: number,
  names: readonly string[],
): Promise<ErasedChunk> {
  await lockArchive(tx, tenant);
  const placed = await findChunkAfter(tx, tenant, after);
  if (!placed) return { last: undefined, erased: new Map() };
  const { number, chunk } = placed;
  const column = await chunk.names();
  const erased = column.replaceParticipants(names, ERASED);
  if (erased.size > 0) {
    await replaceNames(tx, tenant, number, await packNames({ tenant, number }, column));
  }
  return { last: number, erased };
}
