/** SQL that reads the sums of usage: those by hour, and the deltas that are not added to them yet. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DELTA_SUMS, HOUR_OF_DELTA, MEASURES } from './fold-usage.sql.ts';
import { roleOf, tierOf } from './record-codes.ts';
import type { Grouping, Measures, SummaryQuery, SummaryRow } from './usage-summary.ts';

const GROUPED: Readonly<Record<Grouping, string>> = {
  hour: 'hour as time',
  day: `date_trunc('day', hour, 'UTC') as time`,
  room: 'room',
  role: 'role',
  tier: 'tier',
};

interface SumRow extends Record<(typeof MEASURES)[number] | `all_${(typeof MEASURES)[number]}`, string> {
  readonly time?: Date;
  readonly room?: string;
  readonly role?: string;
  readonly tier?: string;
  readonly groups: bigint;
}

export interface Sums {
  readonly rows: readonly SummaryRow[];
  /** Of all rows; absent if there is none. */
  readonly total: Measures | undefined;
  readonly groups: bigint;
}

/** `all` is a window over every group, so that the total is of the same instant as the rows. */
export async function readSums(db: Db, tenant: TenantId, query: SummaryQuery): Promise<Sums> {
  const { groupBy, from, to, room, limit, skip } = query;
  const byRoom = room !== undefined || groupBy.includes('room');
  const inRoom = room === undefined ? '' : 'and room = $6';
  const columns = `hour, role, tier, ${byRoom ? 'room, ' : ''}`;
  const names = groupBy.map((each) => GROUPED[each].split(' ').at(-1)!);
  const order = [...names.filter((name) => name === 'time'), 'amount + unbilled desc', ...names];
  const { rows } = await db.query<SumRow>({
    name: ['read-sums', ...groupBy, room !== undefined && 'in-room'].filter(Boolean).join('-'),
    text: `with sums as (
             select ${columns} ${MEASURES.join(', ')}
               from ${byRoom ? 'usage_room_hours' : 'usage_hours'}
              where tenant_id = $1 and hour >= $2 and hour < $3 ${inRoom}
             union all
             select ${HOUR_OF_DELTA}, role, tier, ${byRoom ? 'room, ' : ''} ${MEASURES.map((each) => `s.${each}`).join(', ')}
               from usage_deltas d, ${DELTA_SUMS}
              where d.tenant_id = $1 and d.at >= $2 and d.at < $3 ${inRoom}
           ), groups as (
             select ${groupBy.map((each) => `${GROUPED[each]}, `).join('')}
                    ${MEASURES.map((each) => `sum(${each}) as ${each}`).join(', ')}
               from sums ${names.length > 0 ? `group by ${names.map((_, at) => at + 1).join(', ')}` : 'having count(*) > 0'}
           )
           select *, ${MEASURES.map((each) => `sum(${each}) over () as all_${each}`).join(', ')},
                  count(*) over () as groups
             from groups order by ${order.join(', ')} limit $4 offset $5`,
    values: [tenant, from, to, limit, skip, ...(room === undefined ? [] : [room])],
  });
  return {
    rows: rows.map(renderRow),
    total: rows[0] && measuresOf(rows[0], 'all_'),
    groups: rows[0]?.groups ?? 0n,
  };
}

function renderRow({ time, room, role, tier, ...row }: SumRow): SummaryRow {
  return {
    ...(time && { time }),
    ...(room !== undefined && { room }),
    ...(role !== undefined && { role: roleOf(role) }),
    ...(tier !== undefined && { tier: tierOf(tier) }),
    ...measuresOf(row, ''),
  };
}

function measuresOf(row: Omit<SumRow, 'time'>, prefix: '' | 'all_'): Measures {
  return {
    records: BigInt(row[`${prefix}records`]),
    seconds: BigInt(row[`${prefix}seconds`]),
    egressBytes: BigInt(row[`${prefix}egress_bytes`]),
    ingressBytes: BigInt(row[`${prefix}ingress_bytes`]),
    amount: BigInt(row[`${prefix}amount`]),
    unbilled: BigInt(row[`${prefix}unbilled`]),
  };
}
