/**
 * The payment provider: Stripe's own client, or the same client pointed at any server that speaks
 * Stripe's API, such as the sandbox. One code path for production, tests and trying things out.
 */
import Stripe from 'stripe';
import type { BaseDeps } from '../../base/deps.ts';
import { Failure } from '../../base/failure.ts';

/** The version of Stripe's API that this code was written against. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/**
 * A caller is answered within 15 seconds, and his first checkout takes two calls. Nothing is repeated
 * here: what nobody waits for is repeated by whoever asked, under the same idempotency key.
 */
const TIMEOUT_MS = 6_000;

export interface Provider {
  readonly stripe: Stripe;
  /** Any of them may have signed a notification: two are valid while one replaces the other. */
  readonly webhookSecrets: readonly string[];
  /** Whether this is real money; notifications of the other world are none of our business. */
  readonly livemode: boolean;
}

export interface PaymentsDeps extends BaseDeps {
  /** `undefined`: payments are not configured on this deployment. */
  readonly provider: Provider | undefined;
  readonly config: { readonly publicUrl: string };
}

export function openProvider(options: {
  secretKey: string;
  webhookSecrets: readonly string[];
  apiBase: string | undefined;
}): Provider {
  const stripe = new Stripe(options.secretKey, {
    apiVersion: STRIPE_API_VERSION,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    ...(options.apiBase ? elsewhere(new URL(options.apiBase)) : {}),
  });
  const livemode = /^[a-z]+_live_/.test(options.secretKey);
  return { stripe, webhookSecrets: options.webhookSecrets, livemode };
}

function elsewhere(url: URL): { host: string; port: string; protocol: 'http' | 'https' } {
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  return { host: url.hostname, port: url.port || (protocol === 'https' ? '443' : '80'), protocol };
}

/** The provider, or the failure that says there is none on this deployment. */
export function requireProvider(provider: Provider | undefined): Provider {
  if (!provider) throw new Failure('payments_not_configured');
  return provider;
}

/** Whether the provider refused a call because the customer was deleted there. */
export function isCustomerGone(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'resource_missing' &&
    error.param === 'customer'
  );
}

/** Run a call for a caller who waits: what the provider answers instead becomes its message to him. */
export async function askProvider<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    throw new Failure('provider_error', { message: error.message, cause: error });
  }
}
