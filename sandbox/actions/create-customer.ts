/** A new customer, through the API or by a checkout that creates one. */
import type { Customer } from '../objects/customer.ts';
import { renderLiveCustomer } from '../objects/customer.ts';
import { emit, now, type Provider } from '../provider.ts';

export function createCustomer(
  provider: Provider,
  details: Partial<Pick<Customer, 'email' | 'name' | 'phone' | 'description' | 'metadata'>>,
): Customer {
  const customer = provider.state.put('customers', {
    id: provider.ids.next('cus_'),
    created: now(provider),
    deleted: false,
    email: details.email ?? null,
    name: details.name ?? null,
    phone: details.phone ?? null,
    description: details.description ?? null,
    metadata: details.metadata ?? {},
    defaultPaymentMethod: null,
    country: null,
  });
  emit(provider, 'customer.created', renderLiveCustomer(customer));
  return customer;
}
