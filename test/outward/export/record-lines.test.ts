/** The lines of usage records beside what PostgreSQL writes of the rows. */
import { expect, test } from 'vitest';
import { inSnapshot } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { decode, ROLE_CODES, TIER_CODES } from '../../../src/money/pricing/role-codes.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { EXPORTED, readLines } from '../../../src/outward/export/exported-rows.sql.ts';
import { useService } from '../../support/service.ts';
import { makeTenant } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

const TEXTS = [
  undefined,
  '',
  'lobby',
  'quotes " and \\ and /',
  'controls \u0001\b\t\n\f\r\u001f\u007f\u0080',
  'lines \u2028 and \u2029',
  'characters of four bytes 🎥👩‍👩‍👧‍👦\u{10ffff}',
];

async function linesOf(tenant: TenantId): Promise<string[]> {
  return inSnapshot(db(), async (tx) => {
    const lines: string[] = [];
    for await (const page of readLines(tx, tenant, 'usage_records')) lines.push(...page);
    return lines;
  });
}

test('are the same to the byte, in the order of charging', async () => {
  const tenant = await makeTenant(db(), { status: 'active' });
  // Their ids are not in the order of charging.
  const batches = [2, 1, 0].map((batch) =>
    TEXTS.flatMap((text, at) =>
      [2 ** 53 - 1, 0].map((bytes) => ({
        id: `${batch}-${bytes}-${text ?? 'none'}`,
        room: text,
        participant: TEXTS[TEXTS.length - 1 - at],
        role: 'host' as const,
        tier: '2k_plus' as const,
        seconds: at,
        egressBytes: BigInt(bytes),
        ingressBytes: BigInt(bytes),
      })),
    ),
  );
  for (const records of batches) {
    await chargeTenant(app.service.deps, tenant, [{ tenant, records: UsageRecords.from(records) }]);
  }
  await db().query(
    `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                capped, id) values ($1, $2, $2, $2, $2, 1, 0, 'a', 'h', true, 'of 64 bits')`,
    [tenant, 2n ** 63n - 1n],
  );
  const columns = EXPORTED.usage_records!.columns.replace(
    'role',
    `${decode('role', ROLE_CODES)} as role`,
  ).replace('tier', `${decode('tier', TIER_CODES)} as tier`);
  const { rows } = await db().query<{ line: string }>(
    `select row_to_json(r)::text as line from (
       select 'usage_records' as "table", tenant_name($1::bigint) as tenant, ${columns} from usage_records
        where tenant_id = $1 order by posting_seq, line) as r`,
    [tenant],
  );
  expect(rows).toHaveLength(6 * TEXTS.length + 1);
  expect(await linesOf(tenant)).toEqual(rows.map(({ line }) => line));
});
