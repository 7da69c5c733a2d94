/** SQL of `session_sums`: what sessions used each day and month, by participant, key and customer. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { endOf, monthOf, startOf } from '../../money/month.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import { MEASURES } from '../../money/usage/fold-usage.sql.ts';
import { measuresOf, type SumRow } from '../../money/usage/usage-summary.sql.ts';
import type { Measures } from '../../money/usage/usage-summary.ts';
import type {
  DaySum,
  SessionGrouping,
  SessionSpan,
  SessionSumsQuery,
  SessionSumsRow,
} from './session-sums.ts';

/** As the column `kind` has them. */
const KINDS: Readonly<Record<SessionGrouping, string>> = { participant: 'p', key: 'k', customer: 'c' };

const NAMES = MEASURES.join(', ');
const ALL = MEASURES.map((each) => `coalesce(sum(${each}), 0) as all_${each}`).join(', ');
const SUMS = MEASURES.map((each) => `sum(${each}) as ${each}`).join(', ');
const ADDED = MEASURES.map((each) => `${each} = s.${each} + excluded.${each}`).join(', ');
const startIn = (part: SessionSpan, time: string) => `date_trunc('${part}', ${time}, 'UTC')`;

/** Add to the sums of days, and of their months. All who change several rows lock them in this order. */
export function addToSums(tenant: TenantId, sums: readonly DaySum[]): Statement[] {
  if (sums.length === 0) return [];
  return [
    {
      name: 'add-to-session-sums',
      text: `with days as (
             select kind, day, name, ${NAMES} from json_to_recordset($2) as n
               (kind "char", day timestamptz, name text, ${MEASURES.map((each) => `${each} numeric`).join(', ')})
           )
           insert into session_sums as s (tenant_id, kind, part, start, name, ${NAMES})
           select $1, * from (
             select kind, 'd'::"char" as part, day as start, name, ${NAMES} from days
             union all
             select kind, 'm', ${startIn('month', 'day')}, name, ${SUMS} from days group by 1, 3, 4) as added
            order by kind, part, start, name collate "C"
           on conflict (tenant_id, kind, part, start, name) do update set ${ADDED}`,
      values: [
        tenant,
        JSON.stringify(
          sums.map(({ by, day, name, records, seconds, egressBytes, ingressBytes, amount, unbilled }) => ({
            kind: KINDS[by],
            day: `${day}T00:00:00Z`,
            name,
            records: String(records),
            seconds: String(seconds),
            egress_bytes: String(egressBytes),
            ingress_bytes: String(ingressBytes),
            amount: String(amount),
            unbilled: String(unbilled),
          })),
        ),
      ],
    },
  ];
}

export interface SessionSums {
  readonly rows: readonly SessionSumsRow[];
  /** What all sessions used in the period. */
  readonly assigned: Measures;
}

/** One statement, so that the page and the sum of all are of one instant. */
export async function readSessionSums(
  db: Db,
  tenant: TenantId,
  query: SessionSumsQuery,
): Promise<SessionSums> {
  const { by, every, names, limit, skip } = query;
  const parts = partsOf(query);
  const edges = parts.flatMap(({ from, to }) => [from, to]);
  const isSummed = parts.length > 1 || (every !== parts[0]!.span && !isOne(parts[0]!));
  // Where nothing is added up, an index has the order of the rows.
  const time = every && (isSummed || every !== parts[0]!.span) ? startIn(every, 'start') : 'start';
  const sums = every ? `${time} as time, name` : 'name';
  const from = isSummed || every ? '>=' : '=';
  const order = `${every ? 'time, ' : ''}amount desc, unbilled desc, name`;
  const where = names ? `and name = any($${4 + edges.length})` : '';
  const { rows } = await db.query<SumRow & { time?: Date; name: string | null }>({
    name: [
      'read-sums-by',
      by,
      every && `each-${every}`,
      parts.map(({ span, isLess }) => (isLess ? span[0]!.toUpperCase() : span[0])).join(''),
      isSummed && 'summed',
      names && 'named',
    ]
      .filter(Boolean)
      .join('-'),
    // The sum of all is the same of each kind, and keys are the fewest.
    text: `with total as (select ${ALL} from (${selectParts('key', parts, { from })}) as of_keys),
                page as (
                  select ${sums}, ${isSummed ? SUMS : NAMES} from (${selectParts(by, parts, { from, where })}) as of_groups
                   ${isSummed ? `group by ${every ? '1, 2' : '1'} having sum(records) > 0` : ''} order by ${order} limit $2 offset $3
                )
           select * from total left join page on true order by ${order}`,
    values: [tenant, limit, skip, ...edges, ...(names ? [names] : [])],
  });
  return {
    rows: rows.flatMap(({ time, name, ...row }) =>
      name === null ? [] : [{ ...(time && { time }), name, ...measuresOf(row, '') }],
    ),
    assigned: measuresOf(rows[0]!, 'all_'),
  };
}

/** Rows of one kind, of these times. The first edge is `$4`. */
function selectParts(
  by: SessionGrouping,
  parts: readonly Part[],
  { from, where = '' }: { readonly from: '>=' | '='; readonly where?: string },
): string {
  const selects = parts.map(({ span, isLess }, at) => {
    const measures = isLess ? MEASURES.map((each) => `-${each} as ${each}`).join(', ') : NAMES;
    return `select start, name, ${measures} from session_sums
      where tenant_id = $1 and kind = '${KINDS[by]}' and part = '${span[0]}' and start ${from} $${4 + 2 * at} and start < $${5 + 2 * at} ${where}`;
  });
  return selects.join(' union all ');
}

/** Days or months that a period consists of, or that it has less. */
interface Part {
  readonly span: SessionSpan;
  readonly from: Date;
  readonly to: Date;
  readonly isLess: boolean;
}

const DAY_MS = 86_400_000;
/** The clocks of the database and of this process may differ by as much. */
const CLOCK_MS = 3_600_000;

/**
 * The fewest rows that make the period: whole months, and days that it has more or less. Nothing is charged in the future, so the
 * rest of a month may be added to a period that ends there.
 */
function partsOf({ every, from, to: end }: SessionSumsQuery): readonly Part[] {
  const to = end.getTime() > Date.now() + CLOCK_MS ? endOf(monthOf(new Date(end.getTime() - 1))) : end;
  const days = difference('day', from, to);
  if (every === 'day') return days;
  const ways = edgesOf(from).flatMap((first) =>
    edgesOf(to)
      .filter((last) => first <= last)
      .map((last) => [
        ...difference('day', from, first),
        ...difference('month', first, last),
        ...difference('day', last, to),
      ]),
  );
  return [days, ...ways].reduce((best, each) => (sizeOf(each) < sizeOf(best) ? each : best));
}

/** About as many times the rows of a day. */
function sizeOf(parts: readonly Part[]): number {
  const sizes = parts.map(
    ({ span, from, to }) => (to.getTime() - from.getTime()) / (span === 'day' ? DAY_MS : 31 * DAY_MS),
  );
  return sizes.reduce((sum, each) => sum + each, 0);
}

function isOne({ span, from, to }: Part): boolean {
  return to.getTime() === (span === 'day' ? from.getTime() + DAY_MS : endOf(monthOf(from)).getTime());
}

/** From one time to the other; if that is back, the period has it less. */
function difference(span: SessionSpan, from: Date, to: Date): Part[] {
  if (from.getTime() === to.getTime()) return [];
  return from < to ? [{ span, from, to, isLess: false }] : [{ span, from: to, to: from, isLess: true }];
}

/** The start of the month in which the time is, and the end. */
function edgesOf(time: Date): Date[] {
  const month = monthOf(time);
  return [startOf(month), endOf(month)];
}

/** Let the sums of these participants become those of `(erased)`. Call it while no turn of the tenant assigns usage. */
export async function eraseInSums(tx: Tx, tenant: TenantId, names: readonly string[]): Promise<void> {
  const values = [tenant, names];
  await tx.query({
    name: 'add-to-erased-sums',
    text: `insert into session_sums as s (tenant_id, kind, part, start, name, ${NAMES})
           select tenant_id, kind, part, start, '${ERASED}', ${SUMS} from session_sums
            where tenant_id = $1 and kind = 'p' and name = any($2)
            group by tenant_id, kind, part, start order by part, start
           on conflict (tenant_id, kind, part, start, name) do update set ${ADDED}`,
    values,
  });
  await tx.query({
    name: 'delete-erased-sums',
    text: `delete from session_sums where tenant_id = $1 and kind = 'p' and name = any($2)`,
    values,
  });
}
