/**
 * An invited person says yes or no. Only the yes makes the person a member: a log-in alone does not, because anybody may
 * sign up with the address of another person, and invite it.
 */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { hasConsole, type TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { deleteUnprovedSessions } from '../sessions/sessions.sql.ts';
import { hasOtherAccess } from './kept-access.sql.ts';
import type { Member } from './member.ts';
import { deleteMember, findMemberByEmail, markJoined } from './members.sql.ts';

/** The person who answers, by an address that was proved in this session or by this link. */
export interface Invited {
  readonly tenant: TenantId;
  readonly email: string;
  /** The address of the client. */
  readonly address: string;
}

/**
 * Returns the member; `undefined`: there is no invitation any more. Sessions that were opened with the address and without a
 * proof end. A founder has to say next what to keep of what exists.
 */
export async function acceptInvitation(tx: Tx, invited: Invited): Promise<Member | undefined> {
  const member = await lockInvitation(tx, invited);
  if (!member) return undefined;
  const { tenant } = invited;
  await deleteUnprovedSessions(tx, tenant, member.id);
  const mustReview =
    member.isFounder && member.role === 'owner' && (await hasOtherAccess(tx, tenant, member.id));
  await markJoined(tx, tenant, member.id, { mustReview });
  const after = { role: member.role };
  const entry = { action: 'member_joined', subject: member.id, before: null, after };
  await appendAudit(tx, tenant, actorOf(invited, member), entry);
  return member;
}

/** Removes the invitation. Returns whether there was one. A tenant may so be left without an owner, and has its keys then. */
export async function declineInvitation(tx: Tx, invited: Invited): Promise<boolean> {
  const member = await lockInvitation(tx, invited);
  if (!member) return false;
  const { tenant } = invited;
  await deleteMember(tx, tenant, member.id);
  const before = { role: member.role };
  const entry = { action: 'invitation_declined', subject: member.id, before, after: null };
  await appendAudit(tx, tenant, actorOf(invited, member), entry);
  return true;
}

/** Answers and removals of one tenant take turns. */
async function lockInvitation(tx: Tx, { tenant, email }: Invited): Promise<Member | undefined> {
  const locked = await lockTenant(tx, tenant);
  if (!locked || !hasConsole(locked.status)) return undefined;
  const member = await findMemberByEmail(tx, tenant, email);
  return member?.joinedAt === null && !member.isExpired ? member : undefined;
}

function actorOf({ address }: Invited, { id }: Member): Actor {
  return { kind: 'member', id, address };
}
