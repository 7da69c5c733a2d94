/** SQL that erases names of participants, part by part. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ERASED } from './usage-record.ts';

/** A tenant may have ten million records. Charging waits for no part longer than for a small batch. */
const RECORDS_AT_ONCE = 2_000;

/**
 * For the rest of this transaction, rows are read in the order of their key. Plans are kept, and a plan from when
 * a table was small would sort all rows of a tenant for each part.
 */
export const READ_IN_ORDER: Statement = {
  name: 'read-in-order',
  text: `select set_config(name, 'off', true)
           from unnest('{enable_seqscan,enable_bitmapscan,enable_sort,enable_hashjoin,enable_mergejoin}'::text[])
                as settings (name)`,
};

/** Some rows of a tenant that were looked at. */
export interface ErasedPart {
  /** The id of the last one; `undefined`: there are no more rows. */
  readonly last: string | undefined;
  /** How many rows have lost each of the names. */
  readonly erased: ReadonlyMap<string, number>;
}

/** Erase these names from the tenant's next records after id `after`. There is no index on names: it reads them all. */
export async function eraseInRecords(
  tx: Tx,
  tenant: TenantId,
  after: string,
  names: readonly string[],
): Promise<ErasedPart> {
  const { rows } = await tx.query<ErasedRow>({
    name: 'erase-in-records',
    text: `with part as materialized (
             select id, participant from usage_records where tenant_id = $1 and id > $2
              order by id limit ${RECORDS_AT_ONCE}
           ), found as materialized (
             select id, participant from part where participant = any($3)
           ), erased as (
             update usage_records set participant = '${ERASED}'
              where tenant_id = $1 and id = any(array(select id from found))
           )
           ${outcome(RECORDS_AT_ONCE)}`,
    values: [tenant, after, names],
  });
  return partOf(rows[0]!);
}

/** As a statement that ends in `outcome()` returns it. */
export interface ErasedRow {
  readonly last: string | null;
  readonly erased: Readonly<Record<string, number>> | null;
}

/** The end of a statement with rows that were looked at, `part`, at most `limit`, and those of them with a name, `found`. */
export function outcome(limit: number): string {
  return `select (select case when count(*) = ${limit} then max(id) end from part) as last,
                  (select json_object_agg(participant, count)
                     from (select participant, count(*)::integer from found group by participant) each) as erased`;
}

export function partOf({ last, erased }: ErasedRow): ErasedPart {
  return { last: last ?? undefined, erased: new Map(Object.entries(erased ?? {})) };
}
