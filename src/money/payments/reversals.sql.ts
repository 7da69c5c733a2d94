/** SQL of `refunds`, `disputes` and `fraud_warnings`: actual and possible reversals. */
import type { Tx } from '../../base/db/pool.ts';

/** A failed or canceled refund never changes again, even if an older event arrives later. */
export async function upsertRefund(
  tx: Tx,
  refund: { id: string; paymentId: string; amount: bigint; status: string },
): Promise<void> {
  await tx.query(
    `insert into refunds as r (id, payment_id, amount, status) values ($1, $2, $3, $4)
     on conflict (id) do update set status = excluded.status, amount = excluded.amount
      where not r.final`,
    [refund.id, refund.paymentId, refund.amount, refund.status],
  );
}

export type DisputeOutcome = 'won' | 'lost' | 'closed';

/** Facts about a dispute only ever become true, so events may arrive in any order. */
export async function upsertDispute(
  tx: Tx,
  dispute: {
    id: string;
    paymentId: string;
    amount: bigint;
    withdrawn: boolean;
    reinstated: boolean;
    outcome: DisputeOutcome | null;
  },
): Promise<{ outcome: DisputeOutcome | null }> {
  const { rows } = await tx.query<{ outcome: DisputeOutcome | null }>(
    `insert into disputes as d (id, payment_id, amount, withdrawn, reinstated, outcome)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do update
        set withdrawn = d.withdrawn or excluded.withdrawn, reinstated = d.reinstated or excluded.reinstated,
            outcome = coalesce(d.outcome, excluded.outcome)
     returning outcome`,
    [dispute.id, dispute.paymentId, dispute.amount, dispute.withdrawn, dispute.reinstated, dispute.outcome],
  );
  return rows[0]!;
}

export async function insertFraudWarning(tx: Tx, id: string, paymentId: string): Promise<void> {
  await tx.query('insert into fraud_warnings (id, payment_id) values ($1, $2) on conflict (id) do nothing', [
    id,
    paymentId,
  ]);
}

/** Micros of a payment that are refunded now, or withdrawn by disputes and not given back. */
export async function sumTakenBack(tx: Tx, paymentId: string): Promise<bigint> {
  const { rows } = await tx.query<{ sum: bigint }>(
    `select (coalesce((select sum(amount) from refunds
                        where payment_id = $1 and status in ('pending', 'succeeded')), 0)
           + coalesce((select sum(amount) from disputes
                        where payment_id = $1 and withdrawn and not reinstated), 0))::bigint as sum`,
    [paymentId],
  );
  return rows[0]!.sum;
}

/** Ids of the disputes and warnings that freeze automatic top-ups. */
export async function findReasonsToFreeze(tx: Tx, paymentId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from disputes where payment_id = $1 and outcome is distinct from 'won'
                               and outcome is distinct from 'closed'
     union all select id from fraud_warnings where payment_id = $1`,
    [paymentId],
  );
  return rows.map((row) => row.id);
}
