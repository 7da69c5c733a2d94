/** SQL that finds usage records by their ids. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ROLE_CODES, roleOf, TIER_CODES, tierOf } from '../pricing/role-codes.ts';
import type { ChargedRecord } from './charged-record.ts';

/** The columns of a record, as `RecordRow` has them. */
export const RECORD = `posting_seq as seq, line, id, room, participant, role, tier, seconds, egress_bytes as "egressBytes",
  ingress_bytes as "ingressBytes", amount, capped`;

export interface RecordRow extends Omit<ChargedRecord, 'role' | 'tier'> {
  /** One letter each. */
  readonly role: string;
  readonly tier: string;
}

export function recordOf(row: RecordRow): ChargedRecord {
  return { ...row, role: roleOf(row.role), tier: tierOf(row.tier) };
}

/** As the record would be stored. */
export function rowOf(record: ChargedRecord): RecordRow {
  return { ...record, role: ROLE_CODES[record.role], tier: TIER_CODES[record.tier] };
}

/** In no order. Ids without a row are left out. */
export async function findRowsById(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ChargedRecord[]> {
  const { rows } = await db.query<RecordRow>({
    name: 'find-rows-by-id',
    text: `select ${RECORD} from usage_records where tenant_id = $1 and id = any($2)`,
    values: [tenant, ids],
  });
  return rows.map(recordOf);
}

/**
 * The records of the tenant `$1` with the ids of the column `ids`, as SQL for a lateral join. The newest ones of a tenant are
 * found.
 *
 * `offset 0` forces one look-up for each list: with a join, PostgreSQL might read all records of the tenant, and keep that plan
 * as they grow.
 */
export const selectNamed = (ids: string) =>
  `select * from usage_records where tenant_id = $1 and id = any(${ids}) offset 0`;
