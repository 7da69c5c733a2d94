/** Open sessions of the console, and move between the tenants of one person. */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findMemberships, type Membership, markJoined } from '../members/members.sql.ts';
import { type LoginLink, takeLink } from './login-links.sql.ts';
import type { LoginDeps } from './request-login.ts';
import { hashSecret, isSecret, newSecret, type Proof, provedAddressOf, type Session } from './session.ts';
import { deleteSession, insertSession, type NewSession } from './sessions.sql.ts';

/** The tenants of one person that the console offers. */
export const TENANTS_LISTED_MAX = 100;

export interface OpenedSession {
  /** For the cookie. */
  readonly secret: string;
  /** The path of the page to begin with. */
  readonly next: string;
}

/**
 * Log in with a link, which is used up. `before`: the session of this browser so far, which ends.
 *
 * `undefined`: the link is wrong, used or too old, or nobody may use it any more. Such links are counted.
 */
export async function openSession(
  deps: LoginDeps,
  token: string,
  { address, before }: { readonly address: string; readonly before: Buffer | undefined },
): Promise<OpenedSession | undefined> {
  const opened = isSecret(token)
    ? await inTransaction(deps.db, async (tx) => {
        const link = await takeLink(tx, hashSecret(token));
        const whose = link && (await whoseOf(tx, link));
        if (!link || !whose) return undefined;
        return { secret: await replaceSession(tx, whose, before), next: link.next };
      })
    : undefined;
  if (!opened) await deps.loginLimit.countWrongLink(address);
  return opened;
}

async function whoseOf(tx: Tx, link: LoginLink): Promise<Omit<NewSession, 'hash'> | undefined> {
  if (link.proof !== 'mail') return link;
  const memberships = await findMemberships(tx, link.email, TENANTS_LISTED_MAX);
  const membership = memberships.find(({ tenant }) => tenant === link.tenant) ?? memberships[0];
  return membership && { ...(await asMember(tx, membership)), proof: 'mail' };
}

/** The person who proved to have the address works as this member. */
export async function asMember(
  tx: Tx,
  { tenant, member }: Pick<Membership, 'tenant' | 'member'>,
): Promise<Pick<NewSession, 'tenant' | 'member'>> {
  await markJoined(tx, tenant, member);
  return { tenant, member };
}

/**
 * Log a person in whose address was proved. `before`: the session of this browser so far, which ends. `createdAt`: when
 * the person logged in, if not now. Returns the secret of the session.
 */
export async function openMemberSession(
  tx: Tx,
  proof: Proof,
  membership: Pick<Membership, 'tenant' | 'member'>,
  { before, createdAt }: { readonly before: Buffer | undefined; readonly createdAt?: Date },
): Promise<string> {
  const whose = { ...(await asMember(tx, membership)), proof, ...(createdAt && { createdAt }) };
  return replaceSession(tx, whose, before);
}

/** Each log-in has a new secret. Returns it. */
export async function replaceSession(
  tx: Tx,
  whose: Omit<NewSession, 'hash'>,
  before: Buffer | undefined,
): Promise<string> {
  if (before) await deleteSession(tx, before);
  const secret = newSecret();
  await insertSession(tx, { ...whose, hash: secret.hash });
  return secret.plaintext;
}

/** The tenants that the person may move to. None, unless the person proved to have the address. */
export async function listOwnTenants(deps: Pick<LoginDeps, 'db'>, session: Session): Promise<Membership[]> {
  const email = provedAddressOf(session);
  return email === undefined ? [] : findMemberships(deps.db, email, TENANTS_LISTED_MAX);
}

/** Move to another tenant of the person, without a new log-in. Returns the new secret; `undefined`: the person has no such tenant. */
export async function switchTenant(
  deps: Pick<LoginDeps, 'db'>,
  session: Session,
  to: TenantId | undefined,
): Promise<string | undefined> {
  const membership = (await listOwnTenants(deps, session)).find(({ tenant }) => tenant === to);
  if (!membership) return undefined;
  const { proof, passkeyId, createdAt } = session;
  return inTransaction(deps.db, async (tx) =>
    replaceSession(tx, { ...(await asMember(tx, membership)), proof, passkeyId, createdAt }, session.hash),
  );
}
