/** Open sessions of the console, and move between the tenants of one person. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { shownNetworkOf } from '../../base/lib/address.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findMemberships, type Membership, markJoined } from '../members/members.sql.ts';
import { findSpentLink, type LoginLink, takeLink } from './login-links.sql.ts';
import { noteFailedLogin } from './note-failed-login.ts';
import type { LoginDeps } from './request-login.ts';
import {
  actorOf,
  type From,
  hashSecret,
  isSecret,
  newSecret,
  type Proof,
  provedAddressOf,
  type Session,
} from './session.ts';
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
 * Log in with a link, which is used up.
 *
 * `undefined`: the link is wrong, used or too old, or nobody may use it any more. Such links are counted.
 */
export async function openSession(
  deps: LoginDeps,
  token: string,
  from: From,
): Promise<OpenedSession | undefined> {
  const opened = isSecret(token)
    ? await inTransaction(deps.db, async (tx) => {
        const link = await takeLink(tx, hashSecret(token));
        const whose = link && (await whoseOf(tx, link));
        if (!link || !whose) return undefined;
        return { secret: await replaceSession(tx, whose, from), next: link.next };
      })
    : undefined;
  if (opened) return opened;
  await deps.loginLimit.countWrongLink(from.address);
  await noteSpentLink(deps, token, from.address);
  return undefined;
}

async function whoseOf(tx: Tx, link: LoginLink): Promise<Whose | undefined> {
  if (link.proof !== 'mail') return link;
  const membership = await membershipOf(tx, link);
  return membership && { ...(await asMember(tx, membership)), proof: 'mail' };
}

/** The tenant that was asked for, or else the first that can be used. */
async function membershipOf(
  db: Db,
  link: Extract<LoginLink, { proof: 'mail' }>,
): Promise<Membership | undefined> {
  const memberships = await findMemberships(db, link.email, TENANTS_LISTED_MAX);
  return memberships.find(({ tenant }) => tenant === link.tenant) ?? memberships[0];
}

/** Somebody came with a link that was used, or too late. */
async function noteSpentLink(deps: LoginDeps, token: string, address: string): Promise<void> {
  const link = isSecret(token) ? await findSpentLink(deps.db, hashSecret(token)) : undefined;
  if (!link) return;
  const { proof } = link;
  const membership = proof === 'mail' ? await membershipOf(deps.db, link) : undefined;
  const tenant = membership?.tenant ?? link.tenant;
  if (tenant === undefined) return;
  const subject = membership?.member ?? (proof === 'key' ? link.keyId : null);
  await noteFailedLogin(deps, { tenant, subject, proof }, address);
}

/** The person who proved to have the address works as this member. */
export async function asMember(
  tx: Tx,
  { tenant, member }: Pick<Membership, 'tenant' | 'member'>,
): Promise<Pick<NewSession, 'tenant' | 'member'>> {
  await markJoined(tx, tenant, member);
  return { tenant, member };
}

/** Log a person in whose address was proved. Returns the secret of the session. */
export async function openMemberSession(
  tx: Tx,
  proof: Proof,
  membership: Pick<Membership, 'tenant' | 'member'>,
  from: From,
): Promise<string> {
  return replaceSession(tx, { ...(await asMember(tx, membership)), proof }, from);
}

type Whose = Omit<NewSession, 'hash' | 'device' | 'network'>;

/** Each log-in has a new secret, and an entry in the audit trail. Returns the secret. */
export async function replaceSession(
  tx: Tx,
  whose: Whose,
  { address, device, before }: From,
): Promise<string> {
  if (before) await deleteSession(tx, before);
  const { plaintext, hash } = newSecret();
  const subject = await insertSession(tx, { ...whose, hash, device, network: shownNetworkOf(address) });
  const { tenant, proof, member, keyId, operator } = whose;
  const actor = actorOf(
    { member: member === undefined ? undefined : { id: member }, keyId, operator },
    address,
  );
  await appendAudit(tx, tenant, actor, {
    ...(proof === 'operator' ? { action: 'console_link_used' } : { action: 'logged_in' }),
    subject,
    before: null,
    after: { proof, ...(device !== undefined && { device }) },
  });
  return plaintext;
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
  from: Omit<From, 'before'>,
): Promise<string | undefined> {
  const membership = (await listOwnTenants(deps, session)).find(({ tenant }) => tenant === to);
  if (!membership) return undefined;
  const { proof, passkeyId, createdAt } = session;
  return inTransaction(deps.db, async (tx) =>
    replaceSession(
      tx,
      { ...(await asMember(tx, membership)), proof, passkeyId, createdAt },
      { ...from, before: session.hash },
    ),
  );
}
