/** Log operators in, with an address that the issuer verified, if the issuer says that they are in the group of operators. */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { parseMemberEmail } from '../members/member.ts';
import { type BegunLogin, beginLogin, type IssuerDeps } from '../oidc/begin-login.ts';
import type { Issuer } from '../oidc/issuer.ts';
import { LoginFault } from '../oidc/login-fault.ts';
import { proveAddress } from '../oidc/prove-address.ts';
import type { From } from '../sessions/session.ts';
import { replaceOperatorSession } from './log-in-with-link.ts';
import type { OperatorSession } from './operator-session.ts';

/** The page that a log-in of operators begins with. */
const NEXT = '/console';

/** The issuer, if operators may log in with it. */
export function issuerOfOperators({ issuer }: Pick<IssuerDeps, 'issuer'>): Issuer | undefined {
  return issuer?.operatorsGroup === undefined ? undefined : issuer;
}

/** The address of an operator who logged in with the issuer. Others have the login name of a machine. */
export function addressOfOperator({ operator }: Pick<OperatorSession, 'operator'>): string | undefined {
  return parseMemberEmail(operator);
}

/** `again`: the address of the operator who has to log in again. Fails with a `LoginFault`. */
export async function beginOperatorLogin(
  deps: BaseDeps,
  issuer: Issuer,
  { opsUrl, again }: { readonly opsUrl: string; readonly again?: string },
): Promise<BegunLogin> {
  const attempt = { console: 'operators', next: NEXT, email: again, tenant: undefined } as const;
  return beginLogin(deps, issuer, opsUrl, attempt);
}

/** The operator is the address, in the audit trail too. Returns the secret of the session. Fails with a `LoginFault`. */
export async function finishOperatorLogin(
  deps: BaseDeps & { readonly db: Pool },
  issuer: Issuer,
  { url, secret, from }: { readonly url: URL; readonly secret: string | undefined; readonly from: From },
): Promise<string> {
  const { email, groups } = await proveAddress(deps, issuer, { console: 'operators', url, secret });
  if (issuer.operatorsGroup === undefined || !groups.includes(issuer.operatorsGroup)) {
    throw new LoginFault('stranger', { email });
  }
  return inTransaction(deps.db, (tx) => replaceOperatorSession(tx, { operator: email, proof: 'oidc' }, from));
}
