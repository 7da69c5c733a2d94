/** A new tenant, with its first key. */
import { type CallOptions, DEFAULT_LIMITS } from './calls.ts';
import { checkUrl } from './check-url.ts';
import { type AnswerOf, type BodyOf, Rest } from './rest.ts';

/** Where to sign up, and time limits. */
export interface SignUpOptions extends CallOptions {
  /** Base URL of the REST interface: `https://boxoffice.example`. */
  readonly url: string;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** The new customer. */
export type SignUpRequest = BodyOf<'POST /v1/signup'>;

/** The new tenant, and its first key. */
export type SignedUp = AnswerOf<'POST /v1/signup'>;

/**
 * Create a tenant. `apiKey` is its first backend key; no later answer contains it. The request is never
 * repeated: after `Unavailable`, `Timeout` or `Internal` a tenant may exist whose key is lost. The service
 * accepts five signups an hour from one address, then fails with `RateLimited`.
 */
export async function signUp(request: SignUpRequest, options: SignUpOptions): Promise<SignedUp> {
  const { url, fetch: fetchUrl = fetch, ...callOptions } = options;
  checkUrl('url', url);
  const rest = new Rest({ url, apiKey: undefined, limits: DEFAULT_LIMITS, fetch: fetchUrl });
  return await rest.call('POST /v1/signup', { body: request }, callOptions);
}
