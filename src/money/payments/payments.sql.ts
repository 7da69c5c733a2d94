/** SQL of `payment_settings` and `payments`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Payment } from './payment.ts';
import type { PaymentSettings } from './payment-settings.ts';
import type { SavedCard } from './saved-card.ts';

/** The payment settings of a new tenant, as part of `insertTenant()`. */
export const INSERT_PAYMENT_SETTINGS = 'insert into payment_settings (tenant_id) select id from tenant';

const SETTINGS = `customer_id as "customerId", payment_method_id as "paymentMethodId",
  card_fingerprint as "cardFingerprint", card_brand as "cardBrand", card_last4 as "cardLast4", first_paid_at as "firstPaidAt", top_up_enabled as "topUpEnabled",
  top_up_below as "topUpBelow", top_up_amount as "topUpAmount", top_up_paused_until as "topUpPausedUntil",
  frozen_by as "frozenBy", reversed_payments as "reversedPayments", parked_payments as "parkedPayments",
  card_member as "cardMember", top_up_key as "topUpKey", last_top_up_error as "lastTopUpError"`;

export async function findPaymentSettings(db: Db, tenant: TenantId): Promise<PaymentSettings> {
  const { rows } = await db.query<PaymentSettings>({
    name: 'find-payment-settings',
    text: `select ${SETTINGS} from payment_settings where tenant_id = $1`,
    values: [tenant],
  });
  const row = rows[0];
  assert(row, 'payment settings of the tenant');
  return row;
}

/** Store the tenant's customer unless it has one already. Returns the stored one. */
export async function keepCustomer(db: Db, tenant: TenantId, customerId: string): Promise<string> {
  const { rows } = await db.query<{ customerId: string }>({
    name: 'keep-customer',
    text: `update payment_settings set customer_id = coalesce(customer_id, $2) where tenant_id = $1
           returning customer_id as "customerId"`,
    values: [tenant, customerId],
  });
  return rows[0]!.customerId;
}

/**
 * `null` amounts keep their values. Turning it on ends the pause after a decline or a reversal. `untrustedKey`: the key
 * that makes the settings, if it is not trusted.
 */
export async function updateAutoTopUp(
  tx: Tx,
  tenant: TenantId,
  { enabled, below, amount }: { enabled: boolean; below: bigint | null; amount: bigint | null },
  untrustedKey: string | null,
): Promise<void> {
  await tx.query({
    name: 'update-auto-top-up',
    text: `update payment_settings
              set top_up_enabled = $2, top_up_below = coalesce($3, top_up_below),
                  top_up_amount = coalesce($4, top_up_amount), top_up_key = $5,
                  top_up_paused_until = case when $2 then null else top_up_paused_until end,
                  reversed_payments = case when $2 then '{}' else reversed_payments end
            where tenant_id = $1`,
    values: [tenant, enabled, below, amount, untrustedKey],
  });
}

/** These keys are trusted from now on. The account must be locked. */
export async function trustTopUpKeys(tx: Tx, tenant: TenantId, keys: readonly string[]): Promise<void> {
  await tx.query({
    name: 'trust-top-up-keys',
    text: 'update payment_settings set top_up_key = null where tenant_id = $1 and top_up_key = any($2)',
    values: [tenant, keys],
  });
}

/** Record a settled payment: clears the error and the pause of automatic top-ups. */
export async function notePaid(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'note-paid',
    text: `update payment_settings
              set first_paid_at = coalesce(first_paid_at, t.now), last_top_up_error = null,
                  top_up_paused_until = null
             from (select now() as now) as t
            where tenant_id = $1`,
    values: [tenant],
  });
}

/**
 * Save the card that paid a checkout, unless a newer consent was recorded before: checkouts may settle in
 * any order. A card that was removed leaves its consent, so that an older card does not come back.
 */
export async function saveCard(
  tx: Tx,
  tenant: TenantId,
  card: SavedCard,
  consent: { readonly paidAt: Date; readonly checkoutAt: Date; readonly member: string | null },
): Promise<void> {
  await tx.query({
    name: 'save-card',
    text: `update payment_settings
              set customer_id = $2, payment_method_id = $3, card_fingerprint = $4,
                  card_paid_at = $5, card_checkout_at = $6, card_member = $10,
                  card_brand = $7, card_last4 = $8, card_ends_on = $9, card_look_at = null
            where tenant_id = $1
              and (coalesce(card_paid_at, '-infinity'), coalesce(card_checkout_at, '-infinity')) <= ($5, $6)`,
    values: [
      tenant,
      card.customerId,
      card.paymentMethodId,
      card.fingerprint,
      consent.paidAt,
      consent.checkoutAt,
      card.details?.brand ?? null,
      card.details?.last4 ?? null,
      card.details?.endsOn ?? null,
      consent.member,
    ],
  });
}

/** Record why the last automatic top-up failed, and the end of the pause; null: no pause. */
export async function noteTopUpError(
  tx: Tx,
  tenant: TenantId,
  error: string,
  pausedUntil: Date | 'infinity' | null,
): Promise<void> {
  await tx.query({
    name: 'note-top-up-error',
    text: 'update payment_settings set last_top_up_error = $2, top_up_paused_until = $3 where tenant_id = $1',
    values: [tenant, error, pausedUntil],
  });
}

/** Tell the tenant about an automatic top-up whose outcome is still unknown. */
export async function noteTopUpTrouble(tx: Tx, tenant: TenantId, trouble: string): Promise<void> {
  await tx.query({
    name: 'note-top-up-trouble',
    text: 'update payment_settings set last_top_up_error = $2 where tenant_id = $1',
    values: [tenant, trouble],
  });
}

/** The attempt ended without an error: do not tell about its trouble any longer. */
export async function endTopUpTrouble(tx: Tx, tenant: TenantId, trouble: string): Promise<void> {
  await tx.query({
    name: 'end-top-up-trouble',
    text: `update payment_settings set last_top_up_error = null
            where tenant_id = $1 and last_top_up_error = $2`,
    values: [tenant, trouble],
  });
}

const NO_CARD = `payment_method_id = null, card_fingerprint = null, card_brand = null, card_last4 = null,
  card_ends_on = null, card_look_at = null, card_member = null`;

/** Forget this card in all payment settings. */
export async function forgetCard(tx: Tx, paymentMethodId: string): Promise<void> {
  await tx.query({
    name: 'forget-card',
    text: `update payment_settings set ${NO_CARD} where payment_method_id = $1`,
    values: [paymentMethodId],
  });
}

export async function forgetCustomer(tx: Tx, customerId: string): Promise<void> {
  await tx.query({
    name: 'forget-customer',
    text: `update payment_settings set customer_id = null, ${NO_CARD} where customer_id = $1`,
    values: [customerId],
  });
}

/** The card network replaced the card. Ends a pause that the old card caused. */
export async function updateCardFingerprint(
  tx: Tx,
  paymentMethodId: string,
  fingerprint: string,
): Promise<void> {
  await tx.query({
    name: 'update-card-fingerprint',
    text: `update payment_settings
              set card_fingerprint = $2,
                  top_up_paused_until = case when card_fingerprint = $2 then top_up_paused_until end
            where payment_method_id = $1`,
    values: [paymentMethodId, fingerprint],
  });
}

/** Returns false if the payment exists already, or if another one paid for the same attempt. */
export async function insertPayment(
  tx: Tx,
  payment: Omit<Payment, 'reversed'> & {
    attemptId: string | undefined;
    checkoutId: string | undefined;
    cardFingerprint: string | undefined;
  },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-payment',
    text: `insert into payments (id, tenant_id, kind, credited, tax, attempt_id, checkout_id, card_fingerprint)
           values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    values: [
      payment.id,
      payment.tenant,
      payment.kind,
      payment.credited,
      payment.tax,
      payment.attemptId ?? null,
      payment.checkoutId ?? null,
      payment.cardFingerprint ?? null,
    ],
  });
  return rowCount === 1;
}

/** Take over the time of the posting that credited the payment, which is known only once the posting is there. */
export async function updateSettledAt(tx: Tx, id: string, settledAt: string): Promise<void> {
  await tx.query({
    name: 'update-settled-at',
    text: 'update payments set settled_at = $2 where id = $1',
    values: [id, settledAt],
  });
}

const PAYMENT = 'id, tenant_id as tenant, kind, credited, tax, reversed';

export async function findPayment(db: Db, id: string): Promise<Payment | undefined> {
  const [payment] = await findPayments(db, [id]);
  return payment;
}

async function findPayments(db: Db, ids: readonly string[]): Promise<Payment[]> {
  const { rows } = await db.query<Payment>({
    name: 'find-payments',
    text: `select ${PAYMENT} from payments where id = any($1)`,
    values: [ids],
  });
  return rows;
}

export async function updateReversed(tx: Tx, id: string, reversed: bigint): Promise<void> {
  await tx.query({
    name: 'update-reversed',
    text: 'update payments set reversed = $2 where id = $1',
    values: [id, reversed],
  });
}

/**
 * When the `count`-th newest automatic top-up of the last `seconds` settled; undefined if there are fewer.
 */
export async function findAutoTopUpTime(
  db: Db,
  tenant: TenantId,
  count: number,
  seconds: number,
): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date }>({
    name: 'find-auto-top-up-time',
    text: `select settled_at as at from payments
            where tenant_id = $1 and kind = 'auto_top_up' and settled_at > now() - make_interval(secs => $3)
            order by settled_at desc offset $2 - 1 limit 1`,
    values: [tenant, count, seconds],
  });
  return rows[0]?.at;
}
