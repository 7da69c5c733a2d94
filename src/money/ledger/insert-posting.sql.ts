/** SQL that appends one posting where tables are distributed: each statement finds the tenant's server by itself. */
import type { Statement } from '../../base/db/pipeline.ts';

/** A posting, its account after it, and when the posting before it was made. */
export interface PostingRow {
  readonly tenant_id: string;
  readonly seq: string;
  readonly kind: string;
  readonly balance_before: string;
  readonly amount: string;
  readonly balance: string;
  readonly account_carry: string;
  readonly rate_version: number | undefined;
  readonly rule_version: number | undefined;
  readonly rounding: string | undefined;
  readonly carry: string | undefined;
  readonly records: number | undefined;
  readonly newest_ids: readonly string[] | undefined;
  readonly sums: readonly unknown[] | undefined;
  readonly reference: string | undefined;
  readonly detail: string | undefined;
  readonly payment_id: string | undefined;
}

/** What one statement does for several tenants on one server. `lastAt`: `null` before the first posting. */
export function insertPosting(row: PostingRow, lastAt: string | null): Statement[] {
  const { tenant_id: tenant, seq, sums } = row;
  return [
    {
      name: 'insert-posting',
      text: `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, rate_version, rule_version,
                                   rounding, carry, records, newest_ids, reference, detail, payment_id)
             values ($1, $2, $3, $4, $5, $6, greatest(clock_timestamp(), $7::timestamptz), $8, $9, $10, $11, $12, $13,
                     $14, $15, $16)`,
      values: [
        tenant,
        seq,
        row.kind,
        row.balance_before,
        row.amount,
        row.balance,
        lastAt,
        row.rate_version ?? null,
        row.rule_version ?? null,
        row.rounding ?? null,
        row.carry ?? null,
        row.records ?? null,
        row.newest_ids ?? null,
        row.reference ?? null,
        row.detail ?? null,
        row.payment_id ?? null,
      ],
    },
    ...(sums === undefined ? [] : [insertDelta(tenant, seq, sums)]),
    {
      name: 'move-account',
      text: 'update accounts set last_seq = $2, balance = $3, carry = $4 where tenant_id = $1',
      values: [tenant, seq, row.balance, row.account_carry],
    },
  ];
}

/** At the time of the posting. */
function insertDelta(tenant: string, seq: string, sums: readonly unknown[]): Statement {
  return {
    name: 'insert-usage-delta',
    text: `insert into usage_deltas (tenant_id, seq, at, sums)
           select tenant_id, seq, at, $3::json from postings where tenant_id = $1 and seq = $2`,
    values: [tenant, seq, JSON.stringify(sums)],
  };
}
