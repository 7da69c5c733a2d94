/** SQL of `refunds`, `disputes` and `fraud_warnings`: actual and possible reversals. */
import type { Tx } from '../../base/db/pool.ts';
import {
  DISPUTE_OUTCOMES,
  type Dispute,
  type DisputeOutcome,
  type FraudWarning,
  REFUND_STATUSES,
  REFUND_TAKES,
  type Refund,
} from './reversal.ts';

/** A refund only moves forward, even if an older answer of the provider is stored later. */
export async function upsertRefund(
  tx: Tx,
  paymentId: string,
  { id, amount, status }: Omit<Refund, 'paymentId'>,
): Promise<void> {
  await tx.query({
    name: 'upsert-refund',
    text: `insert into refunds as r (id, payment_id, amount, status) values ($1, $2, $3, $4)
           on conflict (id) do update
              set status = excluded.status, amount = excluded.amount, changed_at = now()
            where not r.final
              and coalesce(array_position($5, excluded.status), 0) >= coalesce(array_position($5,
                  r.status), 0)`,
    values: [id, paymentId, amount, status, REFUND_STATUSES],
  });
}

/** A dispute that was closed without being lost may still become one that withdraws funds. */
const IS_FREEZING = `(outcome is distinct from 'won'
  and (outcome is distinct from 'closed' or withdrawn > reinstated))`;

/** What is stored of a dispute after an answer of the provider. */
export interface StoredDispute {
  /** It was not won, nor closed without a withdrawal. */
  readonly isFreezing: boolean;
  /** The dispute is new here, or its outcome or `isFreezing` changed. */
  readonly isNews: boolean;
}

/**
 * Store an answer of the provider about a dispute. Answers may be stored in any order: more balance
 * transactions replace fewer, and a won dispute stays won. A lost one may be won on appeal.
 */
export async function upsertDispute(
  tx: Tx,
  paymentId: string,
  dispute: Omit<Dispute, 'paymentId'>,
): Promise<StoredDispute> {
  const { id, amount, movements, withdrawn, reinstated, outcome, reason, inquiry } = dispute;
  const { rows } = await tx.query<StoredDispute>({
    name: 'upsert-dispute',
    text: `with before as (select outcome, ${IS_FREEZING} as freezing from disputes where id = $1)
           insert into disputes as d (id, payment_id, amount, movements, withdrawn, reinstated, outcome, reason,
                                      inquiry)
           values ($1, $2, $3, $4, $5, $6, $7, $9, $10)
           on conflict (id) do update
              set amount = case when excluded.movements >= d.movements then excluded.amount else d.amount end,
                  withdrawn = case when excluded.movements >= d.movements then excluded.withdrawn
                                   else d.withdrawn end,
                  reinstated = case when excluded.movements >= d.movements then excluded.reinstated
                                    else d.reinstated end,
                  reason = excluded.reason,
                  inquiry = case when excluded.movements >= d.movements then excluded.inquiry else d.inquiry end,
                  movements = greatest(d.movements, excluded.movements),
                  outcome = case when coalesce(array_position($8, excluded.outcome), 0)
                                    > coalesce(array_position($8, d.outcome),
                                        0) then excluded.outcome else d.outcome end,
                  changed_at = now()
           returning ${IS_FREEZING} as "isFreezing",
                     not exists (select 1 from before where before.outcome is not distinct from d.outcome
                                                        and before.freezing = ${IS_FREEZING}) as "isNews"`,
    values: [
      id,
      paymentId,
      amount,
      movements,
      withdrawn,
      reinstated,
      outcome,
      DISPUTE_OUTCOMES,
      reason,
      inquiry,
    ],
  });
  return rows[0]!;
}

export async function insertFraudWarning(
  tx: Tx,
  paymentId: string,
  { id, reason }: Omit<FraudWarning, 'paymentId'>,
): Promise<void> {
  await tx.query({
    name: 'insert-fraud-warning',
    text: `insert into fraud_warnings (id, payment_id, reason) values ($1, $2, $3)
           on conflict (id) do nothing`,
    values: [id, paymentId, reason],
  });
}

/** What was not yet told of a dispute. */
export interface UntoldDispute {
  readonly id: string;
  /** Micros. */
  readonly amount: bigint;
  /** `null`: it was stored by an earlier version. */
  readonly reason: string | null;
  readonly inquiry: boolean;
  /** Whether its beginning was told before. */
  readonly wasTold: boolean;
  readonly outcome: DisputeOutcome | null;
  /** The outcome that was told before. */
  readonly outcomeTold: DisputeOutcome | null;
}

/**
 * The disputes of a payment of which something was not told yet. From now on they are told.
 *
 * A dispute that another transaction holds is left to that one: it waits for the account, which the caller holds, and
 * tells of the dispute afterwards.
 */
export async function takeUntoldDisputes(tx: Tx, paymentId: string): Promise<UntoldDispute[]> {
  const { rows } = await tx.query<UntoldDispute>({
    name: 'take-untold-disputes',
    text: `with untold as (
             select id, told, outcome_told from disputes
              where payment_id = $1 and (not told or outcome is distinct from outcome_told)
              order by id for no key update skip locked
           )
           update disputes d set told = true, outcome_told = d.outcome
             from untold u where d.id = u.id
           returning d.id, d.amount, d.reason, d.inquiry, d.outcome, u.told as "wasTold",
                     u.outcome_told as "outcomeTold"`,
    values: [paymentId],
  });
  return rows;
}

/** The fraud warnings of a payment that were not told yet. From now on they are told. */
export async function takeUntoldWarnings(
  tx: Tx,
  paymentId: string,
): Promise<{ readonly id: string; readonly reason: string | null }[]> {
  const { rows } = await tx.query<{ id: string; reason: string | null }>({
    name: 'take-untold-warnings',
    text: `with untold as (
             select id from fraud_warnings where payment_id = $1 and not told
              order by id for no key update skip locked
           )
           update fraud_warnings w set told = true from untold u where w.id = u.id
           returning w.id, w.reason`,
    values: [paymentId],
  });
  return rows;
}

/** Micros of a payment, with its tax, that are refunded now, or withdrawn by disputes and not given back. */
export async function sumTakenBack(tx: Tx, paymentId: string): Promise<bigint> {
  const { rows } = await tx.query<{ sum: bigint }>({
    name: 'sum-taken-back',
    text: `select (coalesce((select sum(amount) from refunds where payment_id = $1 and status = any($2)), 0)
                 + coalesce((select sum(greatest(withdrawn - reinstated, 0)) from disputes
                  where payment_id = $1), 0)
                  )::bigint as sum`,
    values: [paymentId, REFUND_TAKES],
  });
  return rows[0]!.sum;
}

/** Ids of the disputes and warnings that freeze automatic top-ups. */
export async function findReasonsToFreeze(tx: Tx, paymentId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-reasons-to-freeze',
    text: `select id from disputes where payment_id = $1 and ${IS_FREEZING}
           union all select id from fraud_warnings where payment_id = $1`,
    values: [paymentId],
  });
  return rows.map((row) => row.id);
}
