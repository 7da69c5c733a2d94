/** Deletes a customer for good. Its payment methods cannot be charged any more. */
import { type Customer, renderLiveCustomer } from '../objects/customer.ts';
import { emit, type Provider } from '../provider.ts';

export function deleteCustomer(provider: Provider, id: string): Customer {
  const { state } = provider;
  for (const method of state.all('paymentMethods').filter(({ customer }) => customer === id)) {
    state.change('paymentMethods', method.id, { customer: null, detached: true });
  }
  const customer = state.change('customers', id, { deleted: true });
  emit(provider, 'customer.deleted', renderLiveCustomer(customer));
  return customer;
}
