/** SQL of `billing_details`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type BillingDetails, NO_DETAILS } from './billing-details.ts';

interface DetailsRow {
  readonly seq: bigint;
  readonly name: string | null;
  readonly address: readonly string[];
  readonly taxId: string | null;
}

const COLUMNS = 'seq, name, address, tax_id as "taxId"';

/** `seq`: how often they were changed. */
export async function findNewestDetails(
  db: Db,
  tenant: TenantId,
): Promise<{ readonly seq: bigint; readonly details: BillingDetails }> {
  const { rows } = await db.query<DetailsRow>({
    name: 'find-newest-billing-details',
    text: `select ${COLUMNS} from billing_details where tenant_id = $1 order by seq desc limit 1`,
    values: [tenant],
  });
  return { seq: rows[0]?.seq ?? 0n, details: renderRow(rows[0]) };
}

/** Those that held just before `end`; if none were given by then, the first ones that were given later. */
export async function findDetailsAt(db: Db, tenant: TenantId, end: Date): Promise<BillingDetails> {
  const { rows } = await db.query<DetailsRow>({
    name: 'find-billing-details-at',
    text: `select ${COLUMNS} from billing_details
            where tenant_id = $1
              and seq = coalesce((select seq from billing_details where tenant_id = $1 and at < $2
                                   order by at desc, seq desc limit 1), 1)`,
    values: [tenant, end],
  });
  return renderRow(rows[0]);
}

export async function insertDetails(
  tx: Tx,
  tenant: TenantId,
  seq: bigint,
  { name, address, taxId }: BillingDetails,
): Promise<void> {
  await tx.query({
    name: 'insert-billing-details',
    text: 'insert into billing_details (tenant_id, seq, name, address, tax_id) values ($1, $2, $3, $4, $5)',
    values: [tenant, seq, name ?? null, address, taxId ?? null],
  });
}

function renderRow(row: DetailsRow | undefined): BillingDetails {
  return row
    ? { name: row.name ?? undefined, address: row.address, taxId: row.taxId ?? undefined }
    : NO_DETAILS;
}
