/** Finish a log-in at the issuer, as far as both consoles do: who came back, and which log-in it was. */
import type { BaseDeps } from '../../base/deps.ts';
import { parseMemberEmail } from '../members/member.ts';
import { hashSecret } from '../sessions/session.ts';
import type { Claims, Issuer } from './issuer.ts';
import { type Console, isStateOf, type LoginAttempt, textsOf } from './login-attempt.ts';
import { takeAttempt } from './login-attempts.sql.ts';
import { LoginFault } from './login-fault.ts';

/** The request of a browser that came back from the issuer. */
export interface Callback {
  readonly console: Console;
  /** With the query. */
  readonly url: URL;
  /** The secret in the cookie of the attempt, if the browser has one. */
  readonly secret: string | undefined;
}

export interface ProvedAddress {
  readonly attempt: LoginAttempt;
  /** In lower case. */
  readonly email: string;
  readonly groups: readonly string[];
}

/** The clocks of the issuer and of the database may differ by so much. */
const CLOCK_SECONDS = 30;

/**
 * The attempt is used up, whatever comes of it. Only an answer to another attempt leaves it: anybody could send one.
 * Fails with a `LoginFault`.
 */
export async function proveAddress(
  { db, log }: Pick<BaseDeps, 'db' | 'log'>,
  issuer: Issuer,
  { console, url, secret }: Callback,
): Promise<ProvedAddress> {
  if (secret === undefined || !isStateOf(secret, url.searchParams.get('state') ?? ''))
    throw new LoginFault('stale');
  const attempt = await takeAttempt(db, hashSecret(secret), console);
  if (!attempt) throw new LoginFault('stale');
  try {
    const claims = await issuer.redeem(url, textsOf(secret), console === 'operators');
    return { attempt, email: addressOf(claims, attempt), groups: groupsOf(claims) };
  } catch (error) {
    if (error instanceof LoginFault) {
      log.warn({ kind: error.kind, reason: error.message }, 'a log-in at the issuer failed');
    }
    throw error;
  }
}

function addressOf(claims: Claims, attempt: LoginAttempt): string {
  const email = typeof claims.email === 'string' ? parseMemberEmail(claims.email) : undefined;
  if (email === undefined || !claims.isVerified) throw new LoginFault('unverified');
  if (attempt.email !== undefined) {
    if (email !== attempt.email) throw new LoginFault('other_person', { email });
    const since = attempt.begunAt.getTime() / 1000 - CLOCK_SECONDS;
    if (claims.authTime === undefined || claims.authTime < since) throw new LoginFault('not_again');
  }
  return email;
}

function groupsOf({ groups }: Claims): readonly string[] {
  const list = Array.isArray(groups) ? groups : [groups];
  return list.filter((each) => typeof each === 'string');
}
