/** Create payment methods, attach them to a customer, detach and update them. */
import { refused } from '../http/errors.ts';
import type { Instrument } from '../objects/cards.ts';
import { renderLiveCustomer } from '../objects/customer.ts';
import { instrumentOf, type PaymentMethod, renderPaymentMethod } from '../objects/payment-method.ts';
import { emit, now, type Provider } from '../provider.ts';

export function createPaymentMethod(
  provider: Provider,
  instrument: Instrument,
  details: Partial<PaymentMethod> = {},
): PaymentMethod {
  return provider.state.put('paymentMethods', {
    id: provider.ids.next('pm_'),
    created: now(provider),
    customer: null,
    detached: false,
    instrument: instrument.id,
    expMonth: 12,
    expYear: provider.clock().getUTCFullYear() + 5,
    email: null,
    name: null,
    allowRedisplay: 'unspecified',
    metadata: {},
    ...details,
  });
}

export function attachPaymentMethod(provider: Provider, id: string, customer: string): PaymentMethod {
  const method = provider.state.change('paymentMethods', id, { customer });
  emit(provider, 'payment_method.attached', renderPaymentMethod(method));
  return method;
}

/** The event still contains the customer's card; `previous_attributes` names the customer. */
export function detachPaymentMethod(provider: Provider, method: PaymentMethod): PaymentMethod {
  const detached = provider.state.change('paymentMethods', method.id, { customer: null, detached: true });
  emit(provider, 'payment_method.detached', renderPaymentMethod(detached), { customer: method.customer });
  clearDefault(provider, method);
  return detached;
}

/**
 * Refuse, as a bank does, to save a card that it would decline in any case.
 *
 * The sandbox requires no authentication here: the first charge will.
 */
export function refusalToSave(instrument: Instrument): string | null {
  const { behaviour } = instrument;
  return behaviour.kind === 'declines' && !behaviour.whenSaved ? behaviour.decline.message : null;
}

/** A card got a new date or number, from its owner or automatically from the card network. */
export function updatePaymentMethod(
  provider: Provider,
  method: PaymentMethod,
  change: { instrument?: Instrument; expMonth?: number; expYear?: number; metadata?: Record<string, string> },
  { automatic }: { automatic: boolean },
): PaymentMethod {
  const before = renderPaymentMethod(method);
  const updated = provider.state.change('paymentMethods', method.id, {
    instrument: (change.instrument ?? instrumentOf(method)).id,
    expMonth: change.expMonth ?? method.expMonth,
    expYear: change.expYear ?? method.expYear,
    metadata: change.metadata ?? method.metadata,
  });
  const type = automatic ? 'payment_method.automatically_updated' : 'payment_method.updated';
  const kind = instrumentOf(method).type;
  emit(provider, type, renderPaymentMethod(updated), { [kind]: before[kind], metadata: before.metadata });
  return updated;
}

/** The card that invoices of this customer would use, shown in the portal. */
export function makeDefault(provider: Provider, customer: string, method: string | null): void {
  const before = provider.state.get('customers', customer)?.defaultPaymentMethod ?? null;
  const changed = provider.state.change('customers', customer, { defaultPaymentMethod: method });
  emit(provider, 'customer.updated', renderLiveCustomer(changed), {
    invoice_settings: { default_payment_method: before },
  });
}

/** A payment method that was attached and then detached cannot be used again. */
export function assertUsable(method: PaymentMethod, param: string): void {
  if (!method.detached) return;
  throw refused(
    'The payment method was detached from its customer and cannot be used again. Create a new payment method.',
    { code: 'payment_method_unexpected_state', param },
  );
}

function clearDefault(provider: Provider, method: PaymentMethod): void {
  if (method.customer === null) return;
  const customer = provider.state.get('customers', method.customer);
  if (customer?.defaultPaymentMethod === method.id) makeDefault(provider, customer.id, null);
}
