/** A month of one tenant's usage, written straight into the tables as a service would have left them. */
import type pg from 'pg';
import { makeLog } from '../src/base/telemetry/log.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { rollUpUsage } from '../src/money/usage/roll-up-usage.ts';
import { onLongClient, type Stand } from './stand.ts';

export const MONTH = { from: '2026-10-01', to: '2026-11-01' } as const;
export const DAYS = 31;
const BATCH = 500;
export const ROOMS = 2_000;
const ROOMS_OF_BATCH = 20;
export const PARTICIPANTS = 50_000;

/** Equal batches at even intervals. Each record costs a whole number of micros: its ceiling. `sums`: how long those of hours are. */
export async function fillMonth(
  stand: Stand,
  tenant: TenantId,
  records: number,
  { from = new Date(MONTH.from), participant = SCATTERED, sums = '1 hour' } = {},
): Promise<void> {
  await onLongClient(stand, async (client) => {
    await fillPostings(client, tenant, records / BATCH, from);
    await client.query(insertRecords(participant), [tenant]);
    await client.query(ROOM_HOURS, [tenant, sums]);
    await client.query(HOURS, [tenant]);
    await rollUpUsage({ db: stand.db, log: makeLog('silent') });
    await client.query('vacuum analyze');
  });
}

/** What a batch of BATCH records costs: a third of them 3,000 micros each, a third 800, a third 300. */
const COST = `(select sum((array[3000, 800, 300])[1 + line % 3])::bigint as cost from generate_series(0, ${BATCH - 1}) line)`;
const AT = `$3::timestamptz + interval '${DAYS} days' * (seq - 1) / $2`;
const ID = (seq: string, line: string) =>
  `'relay-1.' || lpad(${seq}::text, 7, '0') || '.' || lpad(${line}::text, 3, '0')`;

async function fillPostings(client: pg.Client, tenant: TenantId, batches: number, from: Date): Promise<void> {
  await client.query(
    `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, inserted_at, rate_version,
                           rule_version, rounding, carry, records, newest_ids)
     select $1, seq, 'usage', -(seq - 1) * cost, -cost, -seq * cost, ${AT}, ${AT}, 1, 1, 'c', 1006632960000, ${BATCH},
            (select array_agg(${ID('seq', 'line')} order by line desc) from generate_series(${BATCH - 50}, ${BATCH - 1}) line)
       from generate_series(1, $2::bigint) seq, ${COST} of_batch order by seq`,
    [tenant, batches, from],
  );
  await client.query(
    `update accounts a set last_seq = p.seq, balance = p.balance from postings p
      where a.tenant_id = $1 and p.tenant_id = $1 and p.seq = $2`,
    [tenant, batches],
  );
}

const ROOM = `(p.seq * 7 + line % ${ROOMS_OF_BATCH}) % ${ROOMS}`;
/** Which participant a record has, in SQL. Nearly each record of a room has another one. */
const SCATTERED = `(p.seq * 31 + line * 7) % ${PARTICIPANTS}`;
/** A room has the same few participants all the time. */
export const REGULARS = `${ROOM} * (${PARTICIPANTS} / ${ROOMS}) + line / ${ROOMS_OF_BATCH} % (${PARTICIPANTS} / ${ROOMS})`;

const insertRecords = (
  participant: string,
) => `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role,
                                            tier, capped, id, room, participant, inserted_at)
  select $1, p.seq, 900000000, 90000, (array[3000, 800, 300])[1 + line % 3], 60, line,
         (array['h', 'a', 'a'])[1 + line % 3]::"char", (array['f', 'h', 'a'])[1 + line % 3]::"char", true,
         ${ID('p.seq', 'line')}, 'room-' || ${ROOM}, 'user-' || (${participant}), p.inserted_at
    from postings p, generate_series(0, ${BATCH - 1}) line where p.tenant_id = $1 order by p.seq, line`;

const ROOM_HOURS = `insert into usage_room_hours
    (tenant_id, hour, room, role, tier, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
  select r.tenant_id, date_bin($2::interval, r.inserted_at, 'epoch'), r.room, r.role, r.tier, count(*), sum(seconds),
         sum(egress_bytes), sum(ingress_bytes), sum(amount), 0
    from usage_records r where tenant_id = $1 group by 1, 2, 3, 4, 5`;

const HOURS = `insert into usage_hours
  select tenant_id, hour, role, tier, sum(records), sum(seconds), sum(egress_bytes), sum(ingress_bytes), sum(amount), 0
    from usage_room_hours where tenant_id = $1 group by tenant_id, hour, role, tier`;
