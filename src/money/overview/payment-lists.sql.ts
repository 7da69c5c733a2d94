/** SQL for what operators look at in payments of all tenants. Read-only. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { DisputeOutcome } from '../reversals/reversal.ts';
import type { AttemptState } from '../top-ups/attempt.ts';

/** Amounts are in micros. */
export interface AttemptLine {
  readonly id: string;
  readonly tenant: TenantId;
  readonly amount: bigint;
  readonly state: AttemptState;
  readonly sends: number;
  readonly paymentId: string | null;
  /** Why it was declined, or what stands in its way. */
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** The newest automatic top-ups first. */
export async function listAttempts(
  db: Db,
  { tenant, state, limit }: { tenant: TenantId | undefined; state: AttemptState | undefined; limit: number },
): Promise<AttemptLine[]> {
  const { name, where, values } = filtered('list-attempts', [limit], {
    tenant: tenant !== undefined && ['tenant_id = ?', tenant],
    state: state !== undefined && ['state = ?', state],
  });
  const { rows } = await db.query<AttemptLine>({
    name,
    text: `select id, tenant_id as tenant, amount, state, sends, payment_id as "paymentId",
                  coalesce(decline_code, error) as error, created_at as "createdAt", finished_at as "finishedAt"
             from top_up_attempts where true ${where} order by created_at desc, id limit $1`,
    values,
  });
  return rows;
}

export interface DisputeLine {
  readonly id: string;
  readonly paymentId: string;
  /** `null`: the payment is not known here. */
  readonly tenant: TenantId | null;
  readonly amount: bigint;
  readonly withdrawn: bigint;
  readonly reinstated: bigint;
  /** `null`: open. */
  readonly outcome: DisputeOutcome | null;
  readonly changedAt: Date;
}

/** Those that changed last first. */
export async function listDisputes(
  db: Db,
  { tenant, limit }: { tenant: TenantId | undefined; limit: number },
): Promise<DisputeLine[]> {
  const { name, where, values } = filtered('list-disputes', [limit], {
    tenant: tenant !== undefined && ['p.tenant_id = ?', tenant],
  });
  const { rows } = await db.query<DisputeLine>({
    name,
    text: `select d.id, d.payment_id as "paymentId", p.tenant_id as tenant, d.amount, d.withdrawn, d.reinstated,
                  d.outcome, d.changed_at as "changedAt"
             from disputes d left join payments p on p.id = d.payment_id
            where true ${where} order by d.changed_at desc, d.id limit $1`,
    values,
  });
  return rows;
}

export interface FraudWarningLine {
  readonly id: string;
  readonly paymentId: string;
  readonly tenant: TenantId | null;
  readonly at: Date;
}

/** The newest first. */
export async function listFraudWarnings(db: Db, limit: number): Promise<FraudWarningLine[]> {
  const { rows } = await db.query<FraudWarningLine>({
    name: 'list-fraud-warnings',
    text: `select w.id, w.payment_id as "paymentId", p.tenant_id as tenant, w.at
             from fraud_warnings w left join payments p on p.id = w.payment_id
            order by w.at desc, w.id limit $1`,
    values: [limit],
  });
  return rows;
}
