/** The tenant's customer and card at the provider, and its automatic top-up. Amounts are in micros. */
import { hasConsent, type TopUpConsent } from '../accounts/top-up-consent.ts';

export interface PaymentSettings extends TopUpConsent {
  readonly customerId: string | null;
  readonly paymentMethodId: string | null;
  readonly cardFingerprint: string | null;
  /** As the provider names it, such as `visa`; `null`: it did not say, or there is no card. */
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly firstPaidAt: Date | null;
  readonly topUpEnabled: boolean;
  readonly topUpBelow: bigint;
  readonly topUpAmount: bigint;
  readonly topUpPausedUntil: Date | number | null;
  /** Ids of disputes and fraud warnings. While there are any, no automatic top-up runs. */
  readonly frozenBy: readonly string[];
  /**
   * Ids of payments that were refunded or disputed since automatic top-up was turned on. Stops it likewise.
   */
  readonly reversedPayments: readonly string[];
  /** Ids of payments that were made and are not credited. They hold automatic top-ups. */
  readonly parkedPayments: readonly string[];
  readonly lastTopUpError: string | null;
}

/** A sentence of `lastTopUpError` while the outcome of an attempt is still unknown. */
export const PROVIDER_ERROR =
  'The payment provider repeats an error. ' +
  'The top-up is tried again once it is certain that nothing was charged [provider_error].';

const FROZEN = 'Automatic top-ups are stopped: a payment was disputed or reported as fraud [frozen].';
const REVERSED =
  'Automatic top-ups are paused: a payment was refunded or disputed. ' +
  'Turn them on again to resume [payment_reversed].';
const PARKED =
  'Automatic top-ups are stopped: an earlier payment has to be credited by the operator first [payment_parked].';

const FOREIGN_CARD =
  'Automatic top-ups are stopped: a member paid with the saved card, and no member who proved an address turned them on. ' +
  'Turn them on again in the console [foreign_card].';

/** `last_top_up_error`: what stops automatic top-ups now, or else why the last one failed. */
export function describeTopUpError(
  settings: Pick<
    PaymentSettings,
    | 'topUpEnabled'
    | 'frozenBy'
    | 'reversedPayments'
    | 'parkedPayments'
    | 'cardMember'
    | 'topUpKey'
    | 'lastTopUpError'
  >,
): string | null {
  if (settings.topUpEnabled && settings.parkedPayments.length > 0) return PARKED;
  if (settings.topUpEnabled && settings.frozenBy.length > 0) return FROZEN;
  if (settings.topUpEnabled && settings.reversedPayments.length > 0) return REVERSED;
  if (settings.topUpEnabled && !hasConsent(settings)) return FOREIGN_CARD;
  return settings.lastTopUpError;
}

/** Until when automatic top-ups are paused; a text if no time ends it. PostgreSQL's infinity arrives as a number. */
export function pauseOf({ topUpPausedUntil }: PaymentSettings): Date | string | null {
  return typeof topUpPausedUntil === 'number' ? 'it is turned on again' : topUpPausedUntil;
}
