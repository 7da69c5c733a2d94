/** The usage records of a tenant as lines of its export, in the order in which they were charged. */
import type { Db } from '../../base/db/pool.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { roleOf, tierOf } from '../../money/pricing/role-codes.ts';
import type { ReadRecord } from '../../money/records/read-record.ts';
import { readRecords } from '../../money/records/read-records.ts';

/** Each as PostgreSQL would write the row. Needs a transaction, with one such read at a time. */
export async function* readRecordLines(db: Db, tenant: TenantId): AsyncGenerator<readonly string[]> {
  const head = `{"table":"usage_records","tenant":"${renderTenantId(tenant)}"`;
  for await (const records of readRecords(db, { tenant })) {
    yield records.map((record) => `${head},${membersOf(record)}}`);
  }
}

/** Whole numbers may have 64 bits, which `JSON.stringify()` would refuse. */
function membersOf({ id, seq, line, room, participant, ...rest }: ReadRecord): string {
  const { role, tier, seconds, egressBytes, ingressBytes, amount, capped } = rest;
  const members = {
    id: JSON.stringify(id),
    posting_seq: seq,
    line,
    room: JSON.stringify(room),
    participant: JSON.stringify(participant),
    role: `"${roleOf(role)}"`,
    tier: `"${tierOf(tier)}"`,
    seconds,
    egress_bytes: egressBytes,
    ingress_bytes: ingressBytes,
    amount,
    capped,
  };
  return Object.entries(members)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',');
}
