/** Make a link that logs in once: by mail, for the holder of an API key, or for an operator. */

import type { Db } from '../../base/db/pool.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findMemberships } from '../members/members.sql.ts';
import type { LoginLimit } from './login-limit.ts';
import { findLink, insertLink, type LoginLink } from './login-links.sql.ts';
import { type ConsoleMails, loginMail } from './login-mail.ts';
import { hashSecret, isSecret, newSecret } from './session.ts';

export interface LoginDeps extends BaseDeps {
  readonly loginLimit: LoginLimit;
  readonly consoleMails: ConsoleMails;
  readonly config: { readonly publicUrl: string };
}

/** The page that a log-in begins with. */
export const CONSOLE_PATH = '/console';

/**
 * Send a link to an address, if a member has it and it did not get too many. The caller learns neither.
 *
 * Fails with `too_many_logins` if the client asked too often.
 */
export async function requestLogin(
  deps: LoginDeps,
  {
    email,
    tenant,
    next = CONSOLE_PATH,
  }: { readonly email: string; readonly tenant?: TenantId; readonly next?: string },
  address: string,
): Promise<void> {
  if (!(await deps.loginLimit.countRequest(address, email))) return;
  const url = await makeLink(deps.db, deps.config.publicUrl, { proof: 'mail', email, tenant, next });
  const [membership] = await findMemberships(deps.db, email, 1);
  if (membership) deps.consoleMails.send(loginMail(email, url));
}

/** Returns the address of a page that logs in once. */
export async function makeLink(db: Db, publicUrl: string, link: LoginLink): Promise<string> {
  const secret = newSecret();
  await insertLink(db, secret.hash, link);
  return `${publicUrl}${CONSOLE_PATH}/login/${secret.plaintext}`;
}

/** The link behind a token, without using it up. */
export async function peekLink({ db }: { readonly db: Db }, token: string): Promise<LoginLink | undefined> {
  return isSecret(token) ? findLink(db, hashSecret(token)) : undefined;
}
