import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { isCustomerGone } from '../../../src/money/payments/provider.ts';

it.each([
  [true, 'resource_missing', 'customer'],
  [false, 'resource_missing', 'payment_method'],
  [false, 'parameter_invalid_empty', 'customer'],
])('isCustomerGone is %s for %s of %s', (isGone, code, param) => {
  const error = new Stripe.errors.StripeInvalidRequestError({ type: 'invalid_request_error', code, param });
  expect(isCustomerGone(error)).toBe(isGone);
});
