/** SQL of `top_up_attempts`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Attempt } from './attempt.ts';

const COLUMNS = `id, tenant_id as tenant, amount, state, customer_id as "customerId",
  payment_method_id as "paymentMethodId", card_fingerprint as "cardFingerprint", payment_id as "paymentId",
  sends, keys, new_key_at is not null as "isStuck", first_sent_at as "firstSentAt",
  coalesce(extract(epoch from now() - first_sent_at), 0)::float8 as "ageSeconds",
  coalesce(extract(epoch from now() - coalesce(resent_at, first_sent_at)), 0)::float8 as "quietSeconds"`;

/** Open an attempt with the current amount. Returns false if the tenant has an open one. */
export async function insertAttempt(tx: Tx, id: string, tenant: TenantId): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-attempt',
    text: `insert into top_up_attempts (id, tenant_id, amount)
           select $1, tenant_id, top_up_amount from payment_settings where tenant_id = $2
           on conflict (tenant_id) where state in ('pending', 'unknown') do nothing`,
    values: [id, tenant],
  });
  return rowCount === 1;
}

/**
 * Claim the next attempt that is due, for longer than one call to the provider may last.
 *
 * If this process dies, the attempt becomes due again and another process claims it; both send the same
 * charge with the same idempotency key.
 */
export async function claimDueAttempt(db: Db): Promise<Attempt | undefined> {
  const { rows } = await db.query<Attempt>({
    name: 'claim-due-attempt',
    text: `update top_up_attempts set next_at = now() + interval '60 seconds'
            where id = (select id from top_up_attempts
             where state in ('pending', 'unknown') and next_at <= now()
                         order by next_at for update skip locked limit 1)
            returning ${COLUMNS}`,
  });
  return rows[0];
}

export async function findAttempt(db: Db, id: string): Promise<Attempt | undefined> {
  const { rows } = await db.query<Attempt>({
    name: 'find-attempt',
    text: `select ${COLUMNS} from top_up_attempts where id = $1`,
    values: [id],
  });
  return rows[0];
}

/** The one of a tenant that has no outcome yet. `amount` is in micros. */
export async function findOpenAttempt(
  db: Db,
  tenant: TenantId,
): Promise<{ readonly amount: bigint; readonly createdAt: Date } | undefined> {
  const { rows } = await db.query<{ amount: bigint; createdAt: Date }>({
    name: 'find-open-attempt',
    text: `select amount, created_at as "createdAt" from top_up_attempts
            where tenant_id = $1 and state in ('pending', 'unknown')`,
    values: [tenant],
  });
  return rows[0];
}

/** A successful attempt that a restored database does not have. Changes nothing if it is there. */
export async function restoreAttempt(
  tx: Tx,
  attempt: {
    id: string;
    tenant: TenantId;
    amount: bigint;
    customerId: string | undefined;
    paymentMethodId: string | undefined;
    paymentId: string;
    sentAt: Date;
  },
): Promise<void> {
  await tx.query({
    name: 'restore-attempt',
    text: `insert into top_up_attempts (id, tenant_id, amount, state, customer_id, payment_method_id,
               payment_id,
                                        first_sent_at, sends, created_at, finished_at)
           values ($1, $2, $3, 'succeeded', $4, $5, $6, $7, 1, $7, now()) on conflict (id) do nothing`,
    values: [
      attempt.id,
      attempt.tenant,
      attempt.amount,
      attempt.customerId ?? null,
      attempt.paymentMethodId ?? null,
      attempt.paymentId,
      attempt.sentAt,
    ],
  });
}

/**
 * From now on, the outcome is unknown until the provider answers, and the request does not change.
 * `amount` is in micros. Changes nothing if it was sent or closed before.
 */
export async function markSent(
  tx: Tx,
  id: string,
  request: { amount: bigint; customerId: string; paymentMethodId: string; fingerprint: string | null },
): Promise<Attempt | undefined> {
  const { rows } = await tx.query<Attempt>({
    name: 'mark-attempt-sent',
    text: `update top_up_attempts
              set state = 'unknown', amount = $5, customer_id = $2, payment_method_id = $3,
                  card_fingerprint = $4,
                  first_sent_at = now(), sends = 1
            where id = $1 and state = 'pending'
            returning ${COLUMNS}`,
    values: [id, request.customerId, request.paymentMethodId, request.fingerprint, request.amount],
  });
  return rows[0];
}

/**
 * It is about to be sent again: under a new key if it was stuck under the current one for long enough.
 * Changes nothing while it has to wait for that.
 */
export async function markResent(tx: Tx, id: string): Promise<Attempt | undefined> {
  const { rows } = await tx.query<Attempt>({
    name: 'mark-attempt-resent',
    text: `update top_up_attempts
              set resent_at = now(), keys = keys + (new_key_at is not null)::int, new_key_at = null
            where id = $1 and state = 'unknown' and coalesce(new_key_at <= now(), true)
            returning ${COLUMNS}`,
    values: [id],
  });
  return rows[0];
}

/**
 * The provider repeats a stored error under the current key. A new key may be used after `waitSeconds`.
 * Returns whether this was not known.
 */
export async function markStuck(tx: Tx, id: string, waitSeconds: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark-attempt-stuck',
    text: `update top_up_attempts set new_key_at = now() + make_interval(secs => $2)
            where id = $1 and state = 'unknown' and new_key_at is null`,
    values: [id, waitSeconds],
  });
  return rowCount === 1;
}

/** A new key may be used now for the tenant's attempt that is stuck, if there is one. */
export async function releaseStuckAttempt(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'release-stuck-attempt',
    text: `update top_up_attempts set new_key_at = least(new_key_at, now()), next_at = now()
            where tenant_id = $1 and state = 'unknown' and new_key_at is not null`,
    values: [tenant],
  });
}

/** Make the attempt due again after `delaySeconds`. */
export async function postpone(
  db: Db,
  id: string,
  delaySeconds: number,
  known: { paymentId?: string; error?: string },
): Promise<void> {
  await db.query({
    name: 'postpone-attempt',
    text: `update top_up_attempts
              set next_at = now() + make_interval(secs => $2), sends = sends + 1,
                  payment_id = coalesce($3, payment_id), error = coalesce($4, error)
            where id = $1 and state in ('pending', 'unknown')`,
    values: [id, delaySeconds, known.paymentId ?? null, known.error ?? null],
  });
}

/** Close an open attempt. Returns false if it was closed already. */
export async function finishAttempt(
  tx: Tx,
  id: string,
  state: 'succeeded' | 'declined' | 'canceled',
  known: {
    paymentId?: string | undefined;
    declineCode?: string | undefined;
    error?: string | undefined;
  } = {},
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'finish-attempt',
    text: `update top_up_attempts
              set state = $2, finished_at = now(), payment_id = coalesce($3, payment_id),
                  decline_code = $4, error = $5
            where id = $1 and state in ('pending', 'unknown')`,
    values: [id, state, known.paymentId ?? null, known.declineCode ?? null, known.error ?? null],
  });
  return rowCount === 1;
}

/** Count the declines of a card in the last `days`, over all tenants that saved it. */
export async function countDeclines(tx: Tx, fingerprint: string, days: number): Promise<number> {
  const { rows } = await tx.query<{ count: bigint }>({
    name: 'count-declines',
    text: `select count(*) from top_up_attempts
            where card_fingerprint = $1 and state = 'declined'
              and finished_at > now() - make_interval(days => $2)`,
    values: [fingerprint, days],
  });
  return Number(rows[0]!.count);
}

export interface UnknownAttempts {
  readonly attempts: number;
  /** Since the oldest of them was sent first. */
  readonly oldestSeconds: number;
}

/** Attempts of which the provider has not said how they ended. */
export async function countUnknownAttempts(db: Db): Promise<UnknownAttempts> {
  const { rows } = await db.query<UnknownAttempts>({
    name: 'count-unknown-attempts',
    text: `select count(*)::integer as attempts,
                  coalesce(extract(epoch from now() - min(first_sent_at)), 0)::double precision as "oldestSeconds"
             from top_up_attempts where state in ('pending', 'unknown') and state = 'unknown'`,
    values: [],
  });
  return rows[0]!;
}
