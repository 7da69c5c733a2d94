import Stripe from 'stripe';
import { beforeAll, expect, it } from 'vitest';
import { isCustomerGone, openProvider } from '../../../src/money/payments/provider.ts';

// The client, and with it the classes of its errors, is loaded with a provider.
beforeAll(() => openProvider({ secretKey: 'sk_test_x', webhookSecrets: [], apiBase: undefined }));

it.each([
  [true, 'resource_missing', 'customer'],
  [false, 'resource_missing', 'payment_method'],
  [false, 'parameter_invalid_empty', 'customer'],
])('isCustomerGone is %s for %s of %s', (isGone, code, param) => {
  const error = new Stripe.errors.StripeInvalidRequestError({ type: 'invalid_request_error', code, param });
  expect(isCustomerGone(error)).toBe(isGone);
});
