/** SQL of `corrections`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { CorrectedPeriod, Correction } from './correction.ts';

/** Those of periods that share time with this one. `tenant`: `undefined` for all. */
export async function findCorrections(
  db: Db,
  { from, to, tenant }: CorrectedPeriod & { readonly tenant: TenantId | undefined },
): Promise<readonly Correction[]> {
  const { name, where, values } = filtered('find-corrections', [from, to], {
    tenant: tenant !== undefined && ['tenant_id = ?', tenant],
  });
  const { rows } = await db.query<Correction>({
    name,
    text: `select tenant_id as tenant, from_at as "from", to_at as "to", amount
             from corrections where from_at < $2 and to_at > $1 ${where} order by tenant_id, posting_seq`,
    values,
  });
  return rows;
}

/** How many records of the period were charged, as the postings say. */
export async function countCharged(tx: Tx, tenant: TenantId, { from, to }: CorrectedPeriod): Promise<bigint> {
  const { rows } = await tx.query<{ records: bigint }>({
    name: 'count-charged-of-period',
    text: `select coalesce(sum(records), 0)::bigint as records
             from postings where tenant_id = $1 and at >= $2 and at < $3 and kind = 'usage'`,
    values: [tenant, from, to],
  });
  return rows[0]!.records;
}

export interface NewCorrection extends Correction {
  /** Counts the corrections of the period, from 1. */
  readonly number: number;
  readonly seq: bigint;
  readonly rateVersion: number;
  readonly records: number;
  readonly charged: bigint;
  readonly recomputed: bigint;
}

export async function insertCorrection(tx: Tx, correction: NewCorrection): Promise<void> {
  const { tenant, from, to, number, seq, rateVersion, records, charged, recomputed, amount } = correction;
  await tx.query({
    name: 'insert-correction',
    text: `insert into corrections (tenant_id, from_at, to_at, number, posting_seq, rate_version, records, charged,
                                    recomputed, amount)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [tenant, from, to, number, seq, rateVersion, records, charged, recomputed, amount],
  });
}
