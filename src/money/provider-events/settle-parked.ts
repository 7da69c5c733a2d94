/**
 * Settle a parked provider event, when an operator asks for it.
 *
 * After a restore of the database, payments that were made since are parked: the rows that they name are
 * gone. The provider is asked back: the payment must have succeeded, and payment, customer and checkout
 * page must all name the same tenant. Then the row is written again, and the payment is credited as any
 * other, so that later refunds and disputes of it are booked, too.
 */
import type Stripe from 'stripe';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { microsOfCents } from '../amount.ts';
import { isCheckoutId } from '../checkouts/checkout.ts';
import { restoreCheckout } from '../checkouts/checkouts.sql.ts';
import { taxOf } from '../checkouts/find-tax.ts';
import { getParked } from '../parked/list-parked.ts';
import { releaseParkedEvents } from '../parked/parked-events.sql.ts';
import { findAtProvider, type Provider } from '../payments/provider.ts';
import { endHold } from '../payments/top-up-stops.sql.ts';
import { isAttemptId } from '../top-ups/attempt.ts';
import { settlePayment } from '../top-ups/settle-payment.ts';
import { restoreAttempt } from '../top-ups/top-up-attempts.sql.ts';
import { countTopUp } from '../top-ups/top-up-outcome.ts';
import { handleEvent, type ProviderEventDeps } from './handle-event.ts';
import { insertEvent, updateEventOutcome } from './provider-events.sql.ts';

/** What was credited; without it, the event was applied and credited nothing. */
export interface SettledParked {
  readonly credited?: {
    readonly tenant: TenantId;
    readonly paymentId: string;
    /** Micros. */
    readonly amount: bigint;
  };
}

/**
 * `id` is that of a parked or failing provider event, or of its payment. Fails with `not_found`, or with
 * `invalid_request` and the reason why it stays parked.
 */
export async function settleParked(
  deps: ProviderEventDeps,
  provider: Provider,
  id: string,
): Promise<SettledParked> {
  const event = await getParked(deps.db, id);
  const paymentId = event.paymentId ?? (await applyAgain(deps, provider, event.id));
  return paymentId === undefined ? {} : creditPayment(deps, provider, paymentId);
}

/**
 * An operator has dealt with it otherwise, such as by a refund at the provider. Ends the hold on automatic
 * top-ups. Fails with `not_found`, or with `invalid_request` while it is tried again.
 */
export async function dismissParked(
  { db }: Pick<ProviderEventDeps, 'db'>,
  actor: Actor,
  id: string,
  why: string,
): Promise<void> {
  const event = await getParked(db, id);
  if (event.state !== 'parked') throw invalidRequest('only a parked notification can be dismissed');
  const reason = `dismissed: ${why}`;
  await inTransaction(db, async (tx) => {
    if (!(await insertEvent(tx, event, { again: true }))) return;
    await updateEventOutcome(tx, event.id, { outcome: 'ignored', reason });
    // Without the reason, which is for operators: the tenant reads its trail.
    await appendAudit(tx, event.tenant, actor, {
      action: 'parked_payment_dismissed',
      subject: event.paymentId ?? event.id,
      before: { state: event.state },
      after: { state: 'ignored' },
    });
    if (event.paymentId === null) return;
    if (event.tenant !== null) {
      await lockAccount(tx, event.tenant);
      await endHold(tx, event.tenant, event.paymentId);
    }
    await releaseParkedEvents(tx, event.paymentId, reason);
  });
}

/** Returns the payment that is still parked; `undefined`: the event is done. */
async function applyAgain(
  deps: ProviderEventDeps,
  provider: Provider,
  id: string,
): Promise<string | undefined> {
  const event = await findAtProvider(() => provider.stripe.events.retrieve(id));
  if (!event) throw refusal('the provider no longer has this notification');
  const handled = await handleEvent(deps, provider, event, { again: true });
  if (handled?.outcome !== 'parked') return undefined;
  if (!handled.payment) throw refusal(handled.reason);
  return handled.payment.id;
}

async function creditPayment(
  deps: ProviderEventDeps,
  provider: Provider,
  paymentId: string,
): Promise<SettledParked> {
  const intent = await findAtProvider(() =>
    provider.stripe.paymentIntents.retrieve(paymentId, { expand: ['payment_method', 'customer'] }),
  );
  if (!intent) throw refusal(`payment ${paymentId} is not there at the provider`);
  const origin = await findClaimedOrigin(provider, intent);
  const { tenant } = origin;
  const tax = 'session' in origin ? taxOf(origin.session) : 0n;
  const topUp = await inTransaction(deps.db, async (tx) => {
    if (!(await findTenant(tx, tenant))) throw refusal(`its tenant ${intent.metadata.tenant} is not here`);
    await restoreOrigin(tx, intent, origin);
    const settled = await settlePayment(tx, { intent, tax });
    if (settled.outcome !== 'processed') throw refusal(settled.reason);
    // It may have been credited before, when another event was parked.
    await endHold(tx, tenant, intent.id);
    await releaseParkedEvents(tx, intent.id);
    return settled.topUp;
  });
  countTopUp(deps, topUp);
  return { credited: { tenant, paymentId, amount: microsOfCents(intent.amount_received) - tax } };
}

/** The row that a payment claims to have been made for. */
type Origin = { readonly tenant: TenantId } & (
  | { readonly checkoutId: string; readonly session: Stripe.Checkout.Session }
  | { readonly attemptId: string }
);

/** Everything that the provider knows of the payment must name the same tenant and the same row. */
async function findClaimedOrigin(
  { stripe, livemode }: Provider,
  intent: Stripe.PaymentIntent,
): Promise<Origin> {
  const { checkout, attempt } = intent.metadata;
  const tenant = parseTenantId(intent.metadata.tenant ?? '');
  const isOurs = checkout ? isCheckoutId(checkout) && !attempt : isAttemptId(attempt ?? '');
  if (tenant === undefined || !isOurs) throw refusal('its metadata does not name a tenant and what was paid');
  if (intent.livemode !== livemode) throw refusal(`its livemode is ${intent.livemode}`);
  const customer = customerOf(intent);
  if (customer && customer.metadata.tenant !== intent.metadata.tenant) {
    throw refusal(`its customer ${customer.id} is not one of tenant ${intent.metadata.tenant}`);
  }
  if (!checkout) return { tenant, attemptId: attempt! };

  const { data } = await stripe.checkout.sessions.list({ payment_intent: intent.id, limit: 1 });
  const [session] = data;
  if (session?.metadata?.checkout !== checkout || session.client_reference_id !== intent.metadata.tenant) {
    throw refusal(`its checkout page does not name ${checkout} of tenant ${intent.metadata.tenant}`);
  }
  return { tenant, checkoutId: checkout, session };
}

/** A deleted customer names no tenant. */
function customerOf({ customer }: Stripe.PaymentIntent): Stripe.Customer | undefined {
  return customer && typeof customer !== 'string' && !customer.deleted ? customer : undefined;
}

async function restoreOrigin(tx: Tx, intent: Stripe.PaymentIntent, origin: Origin): Promise<void> {
  const { tenant } = origin;
  const amount = microsOfCents(intent.amount);
  if ('checkoutId' in origin) {
    const { checkoutId: id, session } = origin;
    await restoreCheckout(tx, { id, tenant, amount: amount - taxOf(session), sessionId: session.id });
    return;
  }
  await restoreAttempt(tx, {
    id: origin.attemptId,
    tenant,
    amount,
    customerId: idOf(intent.customer),
    paymentMethodId: idOf(intent.payment_method),
    paymentId: intent.id,
    sentAt: new Date(intent.created * 1000),
  });
}

function idOf(reference: string | { id: string } | null): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

function refusal(reason: string): Failure {
  return new Failure('invalid_request', { message: `still parked: ${reason}` });
}
