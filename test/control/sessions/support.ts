/** Sessions of a tenant, and whether their sums equal the ledger. */
import { expect, vi } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { assignNext } from '../../../src/control/sessions/assign-usage.ts';
import { addUsage, NO_USAGE, type SessionUsage } from '../../../src/control/sessions/session.ts';
import { sessionListener } from '../../../src/control/sessions/session-listener.ts';
import { readUsage, USAGE, type UsageRow } from '../../../src/control/sessions/sessions.sql.ts';
import { waitingSince } from '../../../src/events/turns.sql.ts';
import { TIERS } from '../../../src/money/pricing/role.ts';

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
    const [[waiting]] = await inTransaction(db, (tx) =>
      runTogether(tx, [waitingSince(sessionListener, tenant)]),
    );
    expect(waiting).toEqual({ since: null });
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
     union all select ${USAGE} from room_usage where tenant_id = $1 and not is_assigned
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

const SCALARS = ['egress_bytes', 'ingress_bytes', 'amount', 'unbilled'];
const TIER_SUMS = TIERS.map((_, at) => `sum(seconds[${at + 1}])`);

/** Rows of one query that the other does not have. */
async function differencesOf(db: Pool, one: string, other: string, tenant: TenantId): Promise<unknown[]> {
  const { rows } = await db.query(
    `with a as (${one}), b as (${other})
     (select 'a', a.* from a except all select 'a', b.* from b) union all (select 'b', b.* from b except all select 'b', a.* from a)`,
    [tenant],
  );
  return rows;
}

/** The sums of rooms, participants, keys and customers are those of the sessions. */
async function expectSumsOfSessions(db: Pool, tenant: TenantId): Promise<void> {
  const rooms = await differencesOf(
    db,
    `select room, room_uid, sessions, records, seconds, ${SCALARS} from room_usage where tenant_id = $1 and is_assigned`,
    `select room, room_uid, count(*), sum(records), array[${TIER_SUMS}]::bigint[], ${SCALARS.map((each) => `sum(${each})`)}
       from sessions where tenant_id = $1 group by 1, 2`,
    tenant,
  );
  expect(rooms).toEqual([]);
  const names = { p: 'participant', k: `coalesce(key_id, '')`, c: `coalesce(customer, '')` };
  const ofSessions = Object.entries(names).map(
    ([
      kind,
      name,
    ]) => `select '${kind}'::"char", ${name}, sum(records), sum(${TIERS.map((_, at) => `seconds[${at + 1}]`).join(' + ')}),
        ${SCALARS.map((each) => `sum(${each})`)} from sessions where tenant_id = $1 and records > 0 group by 2`,
  );
  for (const part of ['d', 'm']) {
    const groups = await differencesOf(
      db,
      `select kind, name, sum(records), sum(seconds), ${SCALARS.map((each) => `sum(${each})`)}
         from session_sums where tenant_id = $1 and part = '${part}' group by 1, 2`,
      ofSessions.join(' union all '),
      tenant,
    );
    expect(groups).toEqual([]);
  }
}

/** Sums, to the micro. */
export async function expectAllAssigned(db: Pool, tenant: TenantId): Promise<void> {
  const { records, ...sums } = await assignedOf(db, tenant);
  expect({ records, ...sums }).toEqual(await chargedOf(db, tenant));
  await expectSumsOfSessions(db, tenant);
}
