/** Open sessions of the console, and move between the tenants of one person. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { shownNetworkOf } from '../../base/lib/address.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { acceptInvitation, declineInvitation } from '../members/answer-invitation.ts';
import type { Membership } from '../members/member.ts';
import { noteMemberUse } from '../members/members.sql.ts';
import { findInvitations, findOwnTenant, findOwnTenants } from '../members/memberships.sql.ts';
import { isWorkingKey } from '../rights/working-key.sql.ts';
import {
  actorOf,
  type From,
  hashSecret,
  isSecret,
  newSecret,
  provedAddressOf,
  type Session,
} from '../sessions/session.ts';
import { deleteSession, insertSession, type NewSession } from '../sessions/sessions.sql.ts';
import { findEntrance, nextPageOf, TENANTS_PAGE_SIZE } from './find-entrance.ts';
import type { LoginLink, ProvedPerson } from './login-link.ts';
import { findSpentLink, takeLink } from './login-links.sql.ts';
import { noteFailedLogin } from './note-failed-login.ts';
import { type LoginDeps, peekLink } from './request-login.ts';

export interface OpenedSession {
  /** For the cookie. */
  readonly secret: string;
  /** The path of the page to begin with. */
  readonly next: string;
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
 * link is wrong, used, too old, or its person has lost access. Such links are counted.
 */
export async function openSession(
  deps: LoginDeps,
  token: string,
  from: From,
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
      return taken && openWith(tx, taken, from, answer);
    }));
  if (opened) return opened;
  await deps.loginLimit.countWrongLink(from.address);
  await noteSpentLink(deps, token, from.address);
  return undefined;
}

async function openWith(
  tx: Tx,
  link: LoginLink,
  from: From,
  answer: InvitationAnswer | undefined,
): Promise<OpenedSession | 'declined' | undefined> {
  const { next } = link;
  if (!('email' in link)) {
    if (link.proof === 'key' && !(await isWorkingKey(tx, link.tenant, link.keyId))) return undefined;
    return { secret: await replaceSession(tx, link, from), next };
  }
  if (answer?.isYes) {
    const secret = await join(tx, link, answer.tenant, from);
    return secret === undefined ? undefined : { secret, next };
  }
  const isDeclined = answer !== undefined && (await decline(tx, link, answer.tenant, from.address));
  const entrance = await findEntrance(tx, link, next);
  const { own } = entrance;
  if (own) return { secret: await enter(tx, link, own, from), next: nextPageOf(entrance, next) };
  return isDeclined ? 'declined' : undefined;
}

/** Notes a log-in with a link that was used before, or has expired. */
async function noteSpentLink(deps: LoginDeps, token: string, address: string): Promise<void> {
  const link = isSecret(token) ? await findSpentLink(deps.db, hashSecret(token)) : undefined;
  if (!link) return;
  const own = 'email' in link ? (await findEntrance(deps.db, link, link.next)).own : undefined;
  const tenant = 'email' in link ? own?.tenant : link.tenant;
  if (tenant === undefined) return;
  const subject = own?.member ?? (link.proof === 'key' ? link.keyId : null);
  await noteFailedLogin(deps, { tenant, subject, proof: link.proof }, address);
}

type Person = Pick<ProvedPerson, 'email' | 'proof' | 'passkeyId'>;
/** `createdAt`: when the person logged in, if not now. */
type Entering = From & { readonly createdAt?: Date };

/** The person works in the tenant, as the member that the person is. Returns the secret of the session. */
export async function enter(
  tx: Tx,
  { proof, passkeyId }: Omit<Person, 'email'>,
  { tenant, member }: Pick<Membership, 'tenant' | 'member'>,
  { createdAt, ...from }: Entering,
): Promise<string> {
  await noteMemberUse(tx, tenant, member);
  const whose = { tenant, member, proof, passkeyId, ...(createdAt && { createdAt }) };
  return replaceSession(tx, whose, from);
}

/** `undefined`: there is no invitation any more. */
async function join(
  tx: Tx,
  person: Person,
  tenant: TenantId | undefined,
  entering: Entering,
): Promise<string | undefined> {
  if (tenant === undefined) return undefined;
  const { address } = entering;
  const member = await acceptInvitation(tx, { tenant, email: person.email, address });
  return member && enter(tx, person, { tenant, member: member.id }, entering);
}

async function decline(tx: Tx, { email }: Person, tenant: TenantId | undefined, address: string) {
  return tenant !== undefined && declineInvitation(tx, { tenant, email, address });
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

/** `undefined`: the person of the session is no member of the tenant. */
export async function findTenantOfPerson(
  { db }: ListDeps,
  session: Session,
  tenant: TenantId,
): Promise<Membership | undefined> {
  const email = provedAddressOf(session);
  return email === undefined ? undefined : findOwnTenant(db, email, tenant);
}

/** Move to another tenant of the person, without a new log-in. Returns the new secret; `undefined`: the person has no such tenant. */
export async function switchTenant(
  deps: ListDeps,
  session: Session,
  to: TenantId | undefined,
  from: Omit<From, 'before'>,
): Promise<string | undefined> {
  return moveBy(deps, session, from, async (tx, person, entering) => {
    const own = to && (await findOwnTenant(tx, person.email, to));
    return own && enter(tx, person, own, entering);
  });
}

/** Accept an invitation, and move to its tenant. `undefined`: there is none any more. */
export async function joinTenant(
  deps: ListDeps,
  session: Session,
  to: TenantId | undefined,
  from: Omit<From, 'before'>,
): Promise<string | undefined> {
  return moveBy(deps, session, from, (tx, person, entering) => join(tx, person, to, entering));
}

async function moveBy(
  { db }: ListDeps,
  session: Session,
  from: Omit<From, 'before'>,
  enterAs: (tx: Tx, person: Person, entering: Entering) => Promise<string | undefined>,
): Promise<string | undefined> {
  const person = personOf(session);
  if (!person) return undefined;
  const entering = { ...from, before: session.hash, createdAt: person.createdAt };
  return inTransaction(db, (tx) => enterAs(tx, person, entering));
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
