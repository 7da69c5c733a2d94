/** Log members in, with an address that the issuer verified. */
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findEntrance, nextPageOf } from '../logins/find-entrance.ts';
import { enter, type OpenedSession } from '../logins/open-session.ts';
import { type LoginDeps, makeEntrance } from '../logins/request-login.ts';
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
 * A log-in makes no members: `askAt` is the path of the page that asks for a yes first.
 *
 * Fails with a `LoginFault`, and with `too_many_logins` if the client sent too many that were stale.
 */
export async function finishMemberLogin(
  deps: OidcDeps,
  issuer: Issuer,
  { url, secret, from }: { readonly url: URL; readonly secret: string | undefined; readonly from: From },
): Promise<OpenedSession | { readonly askAt: string }> {
  try {
    const { attempt, email } = await proveAddress(deps, issuer, { console: 'tenants', url, secret });
    return await inTransaction(deps.db, async (tx) => {
      const { tenant, next } = attempt;
      const person = { proof: 'oidc', email, tenant } as const;
      const entrance = await findEntrance(tx, person, next);
      const { own, invitations } = entrance;
      if (invitations.length > 0) return { askAt: await makeEntrance(tx, person, next) };
      const isOther = tenant !== undefined && own?.tenant !== tenant;
      if (!own || isOther) throw new LoginFault('stranger', { email });
      return { secret: await enter(tx, person, own, from), next: nextPageOf(entrance, next) };
    });
  } catch (error) {
    if (error instanceof LoginFault && error.kind === 'stale')
      await deps.loginLimit.countWrongLink(from.address);
    throw error;
  }
}
