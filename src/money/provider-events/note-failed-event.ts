/**
 * Count the failures of a swept provider event, and park it in the end.
 *
 * An event that fails keeps the sweeper at its place, so that it is tried again. One that always fails
 * must not keep it there for ever. While the database or the provider is away, events fail through no
 * fault of theirs, so they are parked only after a day.
 */
import type Stripe from 'stripe';
import { outageOf } from '../../base/db/outage.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { isProviderAway } from '../payments/provider.ts';
import { idOf } from '../reversals/reversal.ts';
import { parked, parkPayment } from '../top-ups/settle-payment.ts';
import { countFailure, insertEvent, updateEventOutcome } from './provider-events.sql.ts';

export interface FailureLimits {
  /** After so many failures the event is parked. */
  readonly triesMax: number;
  /** Failures within this time count once: several processes sweep. */
  readonly trySeconds: number;
  /** For failures by an outage, how long it is tried at least. */
  readonly outageSecondsMax: number;
}

export const DEFAULT_FAILURE_LIMITS: FailureLimits = {
  triesMax: 10,
  trySeconds: 60,
  outageSecondsMax: 86_400,
};

/** `failing`: it is tried again with the next sweep. `done`: it is parked, or was handled meanwhile. */
export async function noteFailedEvent(
  deps: BaseDeps,
  event: Stripe.Event,
  error: unknown,
  { triesMax, trySeconds, outageSecondsMax }: FailureLimits,
): Promise<'failing' | 'done'> {
  const message = error instanceof Error ? error.message : String(error);
  const failures = await countFailure(deps.db, event, message, trySeconds);
  if (!failures) return 'done';
  const { tries, seconds } = failures;
  deps.log.error({ err: error, event: event.id, tries }, 'a swept provider event could not be applied');

  const isOutage = outageOf(error) !== undefined || isProviderAway(error);
  if (tries < triesMax || (isOutage && seconds < outageSecondsMax)) return 'failing';
  const reason = `it failed ${tries} times: ${message}`;
  await inTransaction(deps.db, async (tx) => {
    // Another process may have applied it meanwhile.
    if (!(await insertEvent(tx, event))) return;
    // If it says that a payment succeeded, and that is not credited, the payment is parked with it.
    const payment = paymentOf(event);
    const handled = payment ? await parkPayment(tx, payment, reason) : parked(reason);
    if (handled.outcome !== 'processed') await updateEventOutcome(tx, event.id, handled);
  });
  deps.log.warn({ event: event.id, type: event.type, reason }, 'provider event parked');
  return 'done';
}

function paymentOf(event: Stripe.Event): { id: string; metadata: Stripe.Metadata | null } | undefined {
  if (event.type === 'payment_intent.succeeded') return event.data.object;
  if (
    event.type !== 'checkout.session.completed' &&
    event.type !== 'checkout.session.async_payment_succeeded'
  ) {
    return undefined;
  }
  const { payment_intent, payment_status, metadata } = event.data.object;
  const id = idOf(payment_intent);
  return id && payment_status === 'paid' ? { id, metadata } : undefined;
}
