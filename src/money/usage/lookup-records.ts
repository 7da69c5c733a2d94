/** What became of usage that a relay reported, or believes to have reported. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findChargeTerms } from '../ledger/charge-terms.sql.ts';
import { findRecordsById } from '../records/find-records.ts';
import type { ListedRecord } from './list-records.ts';

export interface LookedUp {
  readonly id: string;
  /** `undefined`: the id was never accepted. The relay may report it. */
  readonly found: ListedRecord | undefined;
}

/** In the order of `ids`. */
export async function lookUpRecords(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly LookedUp[]> {
  const records = await findRecordsById(db, tenant, ids);
  const seqs = new Set(records.map(({ seq }) => seq));
  const terms = await findChargeTerms(db, tenant, [...seqs]);
  const byId = new Map(
    records.map((record) => {
      const { at, kind } = terms.get(record.seq)!;
      return [record.id, { ...record, at, isUnbilled: kind === 'unbilled' }];
    }),
  );
  return ids.map((id) => ({ id, found: byId.get(id) }));
}
