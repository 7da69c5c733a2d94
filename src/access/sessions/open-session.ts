/** Open sessions of the console, and move between the tenants of one person. */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { acceptInvitation, declineInvitation } from '../members/answer-invitation.ts';
import type { Membership } from '../members/member.ts';
import { noteMemberUse } from '../members/members.sql.ts';
import { findInvitations, findOwnTenant, findOwnTenants } from '../members/memberships.sql.ts';
import { findEntrance, TENANTS_PAGE_SIZE } from './find-entrance.ts';
import { type LoginLink, type ProvedPerson, takeLink } from './login-links.sql.ts';
import { type LoginDeps, peekLink } from './request-login.ts';
import { hashSecret, newSecret, provedAddressOf, type Session } from './session.ts';
import { deleteSession, insertSession, type NewSession } from './sessions.sql.ts';

export interface OpenedSession {
  /** For the cookie. */
  readonly secret: string;
  /** The path of the page to begin with. */
  readonly next: string;
}

/** The client, and the session of its browser so far, which ends. */
export interface Browser {
  readonly address: string;
  readonly before: Buffer | undefined;
}

/** What the person says to an invitation. */
export interface InvitationAnswer {
  readonly tenant: TenantId | undefined;
  readonly isYes: boolean;
}

/**
 * Log in with a link, which is used up. `answer`: to an invitation; without one, the link opens the tenant that was asked for
 * or used last.
 *
 * `ask`: it has to be answered first, and the link works on. `declined`: the person has no tenant to open. `undefined`: the
 * link is wrong, used or too old, or nobody may use it any more. Such links are counted.
 */
export async function openSession(
  deps: LoginDeps,
  token: string,
  browser: Browser,
  answer?: InvitationAnswer,
): Promise<OpenedSession | 'ask' | 'declined' | undefined> {
  const link = await peekLink(deps, token);
  if (link && 'email' in link && !answer) {
    const { own, invitations } = await findEntrance(deps.db, link, link.next);
    if (!own && invitations.length > 0) return 'ask';
  }
  const opened =
    link &&
    (await inTransaction(deps.db, async (tx) => {
      const taken = await takeLink(tx, hashSecret(token));
      return taken && openWith(tx, taken, browser, answer);
    }));
  if (!opened) await deps.loginLimit.countWrongLink(browser.address);
  return opened;
}

async function openWith(
  tx: Tx,
  link: LoginLink,
  browser: Browser,
  answer: InvitationAnswer | undefined,
): Promise<OpenedSession | 'declined' | undefined> {
  const { next } = link;
  if (!('email' in link)) return { secret: await replaceSession(tx, link, browser.before), next };
  if (answer?.isYes) {
    const secret = await join(tx, link, answer.tenant, browser);
    return secret === undefined ? undefined : { secret, next };
  }
  const isDeclined = answer !== undefined && (await decline(tx, link, answer.tenant, browser.address));
  const { own } = await findEntrance(tx, link, next);
  if (own) return { secret: await enter(tx, link, own, browser), next };
  return isDeclined ? 'declined' : undefined;
}

type Person = Pick<ProvedPerson, 'email' | 'proof' | 'passkeyId'>;
/** `createdAt`: when the person logged in, if not now. */
type Entering = Pick<Browser, 'before'> & { readonly createdAt?: Date };

/** The person works in the tenant, as the member that the person is. Returns the secret of the session. */
export async function enter(
  tx: Tx,
  { proof, passkeyId }: Omit<Person, 'email'>,
  { tenant, member }: Pick<Membership, 'tenant' | 'member'>,
  { before, createdAt }: Entering,
): Promise<string> {
  await noteMemberUse(tx, tenant, member);
  const whose = { tenant, member, proof, passkeyId, ...(createdAt && { createdAt }) };
  return replaceSession(tx, whose, before);
}

/** `undefined`: there is no invitation any more. */
async function join(
  tx: Tx,
  person: Person,
  tenant: TenantId | undefined,
  { address, ...entering }: Entering & Pick<Browser, 'address'>,
): Promise<string | undefined> {
  if (tenant === undefined) return undefined;
  const member = await acceptInvitation(tx, { tenant, email: person.email, address });
  return member && enter(tx, person, { tenant, member: member.id }, entering);
}

async function decline(tx: Tx, { email }: Person, tenant: TenantId | undefined, address: string) {
  return tenant !== undefined && declineInvitation(tx, { tenant, email, address });
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

/** The person of a session; `undefined`: nothing proved who it is. */
function personOf(session: Session): (Person & { readonly createdAt: Date }) | undefined {
  const email = provedAddressOf(session);
  const { proof, passkeyId, createdAt } = session;
  return email === undefined ? undefined : { email, proof: proof as Person['proof'], passkeyId, createdAt };
}

type ListDeps = Pick<LoginDeps, 'db'>;

/** A page of the tenants that the person may move to, and of those that wait for a yes. */
export async function listOwnTenants(
  { db }: ListDeps,
  session: Session,
  list: 'own' | 'invitations',
  after: TenantId | undefined,
): Promise<Page<Membership>> {
  const email = provedAddressOf(session);
  if (email === undefined) return { items: [], end: undefined };
  const find = list === 'own' ? findOwnTenants : findInvitations;
  return readPage(TENANTS_PAGE_SIZE, (limit) => find(db, email, { after, limit }));
}

/** Move to another tenant of the person, without a new log-in. Returns the new secret; `undefined`: the person has no such tenant. */
export async function switchTenant(
  { db }: ListDeps,
  session: Session,
  to: TenantId | undefined,
): Promise<string | undefined> {
  const person = personOf(session);
  if (!person || to === undefined) return undefined;
  return inTransaction(db, async (tx) => {
    const own = await findOwnTenant(tx, person.email, to);
    return own && enter(tx, person, own, { before: session.hash, createdAt: person.createdAt });
  });
}

/** Accept an invitation, and move to its tenant. `undefined`: there is none any more. */
export async function joinTenant(
  { db }: ListDeps,
  session: Session,
  to: TenantId | undefined,
  address: string,
): Promise<string | undefined> {
  const person = personOf(session);
  if (!person) return undefined;
  const entering = { address, before: session.hash, createdAt: person.createdAt };
  return inTransaction(db, (tx) => join(tx, person, to, entering));
}

/** Returns whether there was such an invitation. */
export async function declineTenant(
  { db }: ListDeps,
  session: Session,
  to: TenantId | undefined,
  address: string,
): Promise<boolean> {
  const person = personOf(session);
  return person !== undefined && inTransaction(db, (tx) => decline(tx, person, to, address));
}
