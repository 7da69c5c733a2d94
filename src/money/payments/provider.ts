/**
 * The payment provider: Stripe's client, pointed at Stripe or at any server with Stripe's API, such as
 * the sandbox. Production, tests and development share one code path.
 */
import type Stripe from 'stripe';
import type { BaseDeps } from '../../base/deps.ts';
import { Failure } from '../../base/failure.ts';
import type { Outcome } from '../../base/idempotency/once-outside.ts';

/** The version of Stripe's API that this code was written against. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/**
 * A request is answered within 15 seconds, and a first checkout takes two calls. The client does not
 * retry; background work retries itself, with the same idempotency key.
 */
const TIMEOUT_MS = 6_000;

export interface Provider {
  readonly stripe: Stripe;
  /** Any of them may have signed a provider event: during a rotation, two are valid. */
  readonly webhookSecrets: readonly string[];
  /** Whether this is real money. Provider events of the other mode are parked. */
  readonly livemode: boolean;
}

export interface PaymentsDeps extends BaseDeps {
  /** `undefined`: payments are not configured on this deployment. */
  readonly provider: Provider | undefined;
  readonly config: { readonly publicUrl: string };
}

/** Loaded with the first provider: a service without payments does without its 200 files. */
let client: typeof Stripe | undefined;

export async function openProvider(options: {
  secretKey: string;
  webhookSecrets: readonly string[];
  apiBase: string | undefined;
}): Promise<Provider> {
  client ??= (await import('stripe')).default;
  const stripe = new client(options.secretKey, {
    apiVersion: STRIPE_API_VERSION,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    ...(options.apiBase ? serverOf(new URL(options.apiBase)) : {}),
  });
  const livemode = /^[a-z]+_live_/.test(options.secretKey);
  return { stripe, webhookSecrets: options.webhookSecrets, livemode };
}

function serverOf(url: URL): { host: string; port: string; protocol: 'http' | 'https' } {
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  return { host: url.hostname, port: url.port || (protocol === 'https' ? '443' : '80'), protocol };
}

/** Returns the provider. Fails with `payments_not_configured` if there is none. */
export function requireProvider(provider: Provider | undefined): Provider {
  if (!provider) throw new Failure('payments_not_configured');
  return provider;
}

type ErrorKind = 'StripeError' | 'StripeAPIError' | 'StripeCardError' | 'StripeInvalidRequestError';

/** Whether an error is one of this class of Stripe's client. None is as long as there was no provider. */
export function isProviderError<Kind extends ErrorKind>(
  error: unknown,
  kind: Kind,
): error is InstanceType<(typeof Stripe.errors)[Kind]> {
  return client !== undefined && error instanceof client.errors[kind];
}

/** Whether the provider refused a call because the customer was deleted. */
export function isCustomerGone(error: unknown): boolean {
  return (
    isProviderError(error, 'StripeInvalidRequestError') &&
    error.code === 'resource_missing' &&
    error.param === 'customer'
  );
}

/**
 * What an error of work with an idempotency key says about it. An answer of the provider means that there is nothing to
 * return, and it stores most of its answers under the key: another try needs another one.
 */
export function outcomeOf(error: unknown): Outcome {
  const cause = error instanceof Failure && error.kind === 'provider_error' ? error.cause : error;
  if (cause instanceof Failure) return 'refused';
  if (!isProviderError(cause, 'StripeError') || cause.statusCode === undefined) return 'unknown';
  return cause.code === 'idempotency_key_in_use' ? 'busy' : 'refused';
}

/** Run a look-up by id. Returns undefined if the provider has no such object. */
export async function findAtProvider<T>(retrieve: () => Promise<T>): Promise<T | undefined> {
  try {
    return await retrieve();
  } catch (error) {
    if (isProviderError(error, 'StripeInvalidRequestError') && error.code === 'resource_missing') return;
    throw error;
  }
}

/**
 * Whether the provider could not answer: it was away, too slow or overloaded, or refused our key. This says
 * nothing about what was asked.
 */
export function isProviderAway(error: unknown): boolean {
  return (
    isProviderError(error, 'StripeError') &&
    !isProviderError(error, 'StripeInvalidRequestError') &&
    !isProviderError(error, 'StripeCardError')
  );
}

/** Run a call on behalf of a request. Fails with `provider_error` and the provider's message. */
export async function askProvider<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isProviderError(error, 'StripeError')) throw error;
    throw new Failure('provider_error', { message: error.message, cause: error });
  }
}
