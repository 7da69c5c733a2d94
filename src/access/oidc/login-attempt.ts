/**
 * A log-in that was begun here, and goes on at the issuer.
 *
 * Its secret is in a cookie of the browser. What the issuer and its answer have to repeat is computed from the secret,
 * so the database has nothing that could finish the log-in.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isSecret } from '../sessions/session.ts';

/** An attempt can be finished for so long, and once. */
export const ATTEMPT_MINUTES = 10;

export type Console = 'tenants' | 'operators';

export interface NewAttempt {
  readonly console: Console;
  /** The path of the page to begin with. */
  readonly next: string;
  /** For a log-in again: the address that has to log in, in lower case. */
  readonly email: string | undefined;
  /** For a member's log-in again. */
  readonly tenant: TenantId | undefined;
}

export interface LoginAttempt extends NewAttempt {
  readonly begunAt: Date;
}

/** What the issuer has to repeat, and what proves to it that we began: 43 characters of base64url each. */
export interface AttemptTexts {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE. */
  readonly verifier: string;
}

export function textsOf(secret: string): AttemptTexts {
  const derive = (purpose: string) => createHmac('sha256', secret).update(purpose).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

/** Whether `state` comes from an answer to the attempt with this secret. */
export function isStateOf(secret: string, state: string): boolean {
  return isSecret(state) && timingSafeEqual(Buffer.from(state), Buffer.from(textsOf(secret).state));
}
