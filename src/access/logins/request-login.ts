/** Make a link that logs in once: by mail, for the holder of an API key, or for an operator. */

import type { Db, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isKnownAddress } from '../members/memberships.sql.ts';
import { hashSecret, isSecret, newSecret } from '../sessions/session.ts';
import type { ConsoleMails } from './console-mails.ts';
import type { LoginLimit } from './login-limit.ts';
import { CONSOLE_PATH, type LoginLink, linkPath, type ProvedPerson } from './login-link.ts';
import { findLink, insertLink } from './login-links.sql.ts';

export interface LoginDeps extends BaseDeps {
  readonly loginLimit: LoginLimit;
  readonly consoleMails: ConsoleMails;
  readonly config: { readonly publicUrl: string };
}

/**
 * Send a link to an address, if a member or an invited person has it. The caller does not learn that: for an address
 * without a member, the same statements run. Returns `undefined`, or the seconds until the address gets its next mail, because
 * many were asked for. Then the link of its last one has not expired.
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
): Promise<number | undefined> {
  const waitSeconds = await deps.loginLimit.countRequest(address, email);
  if (waitSeconds !== undefined) return waitSeconds;
  const secret = newSecret();
  await inTransaction(deps.db, async (tx) => {
    await insertLink(tx, secret.hash, { proof: 'mail', email, tenant, next });
    const isWanted = await isKnownAddress(tx, email);
    const mail = { type: 'login_link', to: email, secret: secret.plaintext } as const;
    await deps.consoleMails.write(tx, mail, { isWanted });
  });
  deps.consoleMails.wake();
  return undefined;
}

/** Returns the address of a page that logs in once. */
export async function makeLink(db: Db, publicUrl: string, link: LoginLink): Promise<string> {
  const secret = newSecret();
  await insertLink(db, secret.hash, link);
  return `${publicUrl}${linkPath(secret.plaintext)}`;
}

/** The path of a page that goes on with the log-in of a person: it asks whether the person accepts an invitation. */
export async function makeEntrance(tx: Tx, person: ProvedPerson, next: string): Promise<string> {
  const secret = newSecret();
  await insertLink(tx, secret.hash, { ...person, next });
  return linkPath(secret.plaintext);
}

/** The link behind a token, without using it up. */
export async function peekLink({ db }: { readonly db: Db }, token: string): Promise<LoginLink | undefined> {
  return isSecret(token) ? findLink(db, hashSecret(token)) : undefined;
}
