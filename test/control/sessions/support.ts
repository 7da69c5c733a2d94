/** Sessions of a tenant, and whether their sums equal the ledger. */
import { expect, vi } from 'vitest';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { assignNext } from '../../../src/control/sessions/assign-usage.ts';
import { addUsage, NO_USAGE, type SessionUsage } from '../../../src/control/sessions/session.ts';
import { sessionListener } from '../../../src/control/sessions/session-listener.ts';
import { readUsage, USAGE, type UsageRow } from '../../../src/control/sessions/sessions.sql.ts';
import { findWaitingSince } from '../../../src/events/turns.sql.ts';

/** Assign what is charged, until nothing is left. Waits for sessions that the listener has still to open. */
export async function assignAll(db: Pool, tenant: TenantId): Promise<void> {
  await vi.waitFor(async () => {
    while (await assignNext(db, tenant));
    const { rows } = await db.query<{ behind: boolean }>(
      `select a.last_seq > coalesce(c.seq, 0) as behind
         from accounts a left join session_cursors c using (tenant_id) where a.tenant_id = $1`,
      [tenant],
    );
    expect(rows[0]?.behind ?? false).toBe(false);
  }, 60_000);
}

/** Until the listener has opened and closed the sessions of everything that has happened. */
export async function allFollowed(db: Pool, tenant: TenantId): Promise<void> {
  await vi.waitFor(async () => {
    const since = await inTransaction(db, (tx) => findWaitingSince(tx, sessionListener, tenant));
    expect(since).toBeUndefined();
  }, 60_000);
}

async function sumOf(db: Pool, text: string, tenant: TenantId): Promise<SessionUsage> {
  const { rows } = await db.query<UsageRow>(text, [tenant]);
  return rows.map(readUsage).reduce(addUsage, NO_USAGE);
}

/** What sessions have, what stays unassigned, and what the cursor has not reached, in one statement. */
export function assignedOf(db: Pool, tenant: TenantId): Promise<SessionUsage> {
  return sumOf(
    db,
    `select ${USAGE} from sessions where tenant_id = $1
     union all select ${USAGE} from unassigned_usage where tenant_id = $1
     union all ${selectCharged('p.seq > coalesce((select seq from session_cursors where tenant_id = $1), 0)')}`,
    tenant,
  );
}

export function chargedOf(db: Pool, tenant: TenantId): Promise<SessionUsage> {
  return sumOf(db, selectCharged('true'), tenant);
}

const selectCharged = (where: string) => {
  const seconds = ['a', 'h', 'f', '2', 'k'].map(
    (tier) => `(case when r.tier = '${tier}' then r.seconds else 0 end)::bigint`,
  );
  return `select 1::bigint as records, array[${seconds.join(', ')}] as seconds, r.egress_bytes::numeric as "egressBytes", r.ingress_bytes::numeric as "ingressBytes",
                 case when p.kind = 'usage' then r.amount else 0 end::numeric as amount,
                 case when p.kind = 'unbilled' then r.amount else 0 end::numeric as unbilled
            from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
           where r.tenant_id = $1 and ${where}`;
};

/** Sums, to the micro. */
export async function expectAllAssigned(db: Pool, tenant: TenantId): Promise<void> {
  const { records, ...sums } = await assignedOf(db, tenant);
  expect({ records, ...sums }).toEqual(await chargedOf(db, tenant));
}
