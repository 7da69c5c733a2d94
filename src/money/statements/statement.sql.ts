/** SQL that reads what a statement says: the balances at the edges of a month, and what moved them besides usage. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { PostedBalance } from '../ledger/posted-balance.sql.ts';
import {
  MOVEMENT_GROUPS,
  MOVEMENT_KINDS,
  MOVEMENTS_MAX,
  type Movement,
  type MovementGroup,
  type Movements,
} from './statement.ts';

const GROUP = `case ${MOVEMENT_GROUPS.map(
  (group) => `when kind in (${MOVEMENT_KINDS[group].map((kind) => `'${kind}'`).join(', ')}) then '${group}'`,
).join(' ')} end`;

interface MovementRow extends Omit<Movement, 'reference' | 'detail' | 'payment'> {
  readonly group: MovementGroup;
  readonly reference: string | null;
  readonly detail: string | null;
  readonly payment: string | null;
  readonly count: bigint;
  /** `numeric`, as text. */
  readonly sum: string;
}

/** The changes after the posting `opening` up to and with the posting `closing`, usage excepted. */
export async function findMovements(
  db: Db,
  tenant: TenantId,
  opening: PostedBalance,
  closing: PostedBalance,
): Promise<Record<MovementGroup, Movements>> {
  const { rows } = await db.query<MovementRow>({
    name: 'find-movements',
    text: `select * from (
             select seq, "group", kind, at, amount, reference, detail, payment_id as payment,
                    row_number() over (partition by "group" order by seq) as place,
                    count(*) over (partition by "group") as count,
                    sum(amount) over (partition by "group")::text as sum
               from (select *, ${GROUP} as "group" from postings
                      where tenant_id = $1 and seq > $2 and seq <= $3
                        and kind not in ('usage', 'unbilled')) as moved) as placed
            where place <= ${MOVEMENTS_MAX} order by seq`,
    values: [tenant, opening.seq, closing.seq],
  });
  const of = (group: MovementGroup) => movementsOf(rows.filter((row) => row.group === group));
  return {
    payments: of('payments'),
    reversals: of('reversals'),
    adjustments: of('adjustments'),
    grants: of('grants'),
  };
}

/** `rows`: those of one group. */
function movementsOf(rows: readonly MovementRow[]): Movements {
  const [first] = rows;
  const sum = BigInt(first?.sum ?? 0n);
  const count = (first?.count ?? 0n) - BigInt(rows.length);
  const listed = rows.reduce((total, { amount }) => total + amount, 0n);
  return {
    entries: rows.map(renderMovement),
    others: count > 0n ? { count, sum: sum - listed } : undefined,
    sum,
  };
}

function renderMovement({ kind, at, amount, reference, detail, payment }: MovementRow): Movement {
  return {
    at,
    kind,
    amount,
    reference: reference ?? undefined,
    detail: detail ?? undefined,
    // The reference of a payment is its own id already.
    payment: kind === 'refund' || kind === 'dispute' ? (payment ?? undefined) : undefined,
  };
}
