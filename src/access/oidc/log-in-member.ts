/** Log members in, with an address that the issuer verified. */
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findMemberships, type Membership } from '../members/members.sql.ts';
import type { OpenedSession } from '../sessions/open-session.ts';
import { openMemberSession, TENANTS_LISTED_MAX } from '../sessions/open-session.ts';
import type { LoginDeps } from '../sessions/request-login.ts';
import type { From } from '../sessions/session.ts';
import { type BegunLogin, beginLogin, type IssuerDeps } from './begin-login.ts';
import type { Issuer } from './issuer.ts';
import { LoginFault } from './login-fault.ts';
import { proveAddress } from './prove-address.ts';

export interface OidcDeps extends LoginDeps, IssuerDeps {}

/**
 * `again`: of a session that goes on in its tenant, after the same person logged in again.
 *
 * Fails with `too_many_logins` if the client began too many, and with a `LoginFault`.
 */
export async function beginMemberLogin(
  deps: OidcDeps,
  issuer: Issuer,
  {
    next,
    again,
    address,
  }: {
    readonly next: string;
    readonly again?: { readonly email: string; readonly tenant: TenantId };
    readonly address: string;
  },
): Promise<BegunLogin> {
  await deps.loginLimit.countAttempt(address);
  return beginLogin(deps, issuer, deps.config.publicUrl, {
    console: 'tenants',
    next,
    email: again?.email,
    tenant: again?.tenant,
  });
}

/**
 * A log-in creates no member.
 *
 * Fails with a `LoginFault`, and with `too_many_logins` if the client sent too many that were stale.
 */
export async function finishMemberLogin(
  deps: OidcDeps,
  issuer: Issuer,
  { url, secret, from }: { readonly url: URL; readonly secret: string | undefined; readonly from: From },
): Promise<OpenedSession> {
  try {
    const { attempt, email } = await proveAddress(deps, issuer, { console: 'tenants', url, secret });
    return await inTransaction(deps.db, async (tx) => {
      const memberships = await findMemberships(tx, email, TENANTS_LISTED_MAX);
      const membership = choose(memberships, attempt.tenant, email);
      return { secret: await openMemberSession(tx, 'oidc', membership, from), next: attempt.next };
    });
  } catch (error) {
    if (error instanceof LoginFault && error.kind === 'stale')
      await deps.loginLimit.countWrongLink(from.address);
    throw error;
  }
}

/** The tenant that was asked for, or else the first: those that can be used stand before the others. */
function choose(memberships: readonly Membership[], tenant: TenantId | undefined, email: string): Membership {
  const own = memberships.find((each) => tenant === undefined || each.tenant === tenant);
  if (!own) throw new LoginFault('stranger', { email });
  return own;
}
