/** Add, change and remove members of a tenant. Changes of one tenant take turns, so it always keeps an owner. */

import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, invalidField, notFound } from '../../base/failure.ts';
import { deleteStranger, lockHolder } from '../passkeys/passkeys.sql.ts';
import type { MemberRole } from '../rights/abilities.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import type { ActingCaller } from '../sessions/session.ts';
import { MEMBERS_MAX, type Member } from './member.ts';
import { deleteMember, findMembers, insertMember, renewInvitation, updateRole } from './members.sql.ts';

export interface MemberChanger extends ActingCaller {
  readonly actor: Actor;
}

/** Invites a person, who becomes a member by saying yes (`answer-invitation.ts`). Fails with `quota_exceeded`, and for a known address. */
export async function inviteMember(
  tx: Tx,
  by: MemberChanger,
  { email, role }: { readonly email: string; readonly role: MemberRole },
): Promise<Member> {
  const { tenant, actor } = by;
  await lockForCaller(tx, by);
  const members = await findMembers(tx, tenant);
  if (members.length >= MEMBERS_MAX) {
    throw new Failure('quota_exceeded', { message: `limit reached: at most ${MEMBERS_MAX} members` });
  }
  const member = await insertMember(tx, tenant, { email, role });
  if (!member) {
    const isInvited = members.some((each) => each.email === email && !each.joinedAt);
    throw invalidField('email', isInvited ? 'was invited already' : 'is that of a member');
  }
  const after = { role };
  await appendAudit(tx, tenant, actor, { action: 'member_invited', subject: member.id, before: null, after });
  return member;
}

/** Gives an invited person the whole time to answer again. Fails with `not_found` for any other. */
export async function inviteAgain(tx: Tx, by: MemberChanger, id: string): Promise<Member> {
  const { tenant, actor } = by;
  await lockForCaller(tx, by);
  const member = (await findMembers(tx, tenant)).find((each) => each.id === id);
  if (!member || member.joinedAt !== null) throw notFound('invitation');
  await renewInvitation(tx, tenant, id);
  const { role } = member;
  const change = { before: { role }, after: { role } };
  await appendAudit(tx, tenant, actor, { action: 'member_invited', subject: id, ...change });
  return member;
}

const UNDER_REVIEW = 'permission denied: this owner has yet to say what to keep in the tenant';

/** Fails with `not_found`, and with `last_owner` if no owner would be left; with `permission_denied` for a founder who reviews. */
export async function changeMemberRole(
  tx: Tx,
  by: MemberChanger,
  { id, role }: { readonly id: string; readonly role: MemberRole },
): Promise<void> {
  const { tenant, actor } = by;
  const member = await lockMember(tx, by, id, role);
  if (member.role === role) return;
  if (member.mustReview) throw new Failure('permission_denied', { message: UNDER_REVIEW });
  await updateRole(tx, tenant, id, role);
  const change = { before: { role: member.role }, after: { role } };
  await appendAudit(tx, tenant, actor, { action: 'member_role_changed', subject: id, ...change });
}

/**
 * Ends the sessions of the member at once. With the last member of an address, its passkeys go.
 *
 * Fails with `not_found` and `last_owner`.
 */
export async function removeMember(tx: Tx, by: MemberChanger, id: string): Promise<void> {
  const { tenant, actor } = by;
  const { role, email } = await lockMember(tx, by, id, undefined);
  // Before the deletion: two tenants that remove the address at the same time see each other's.
  await lockHolder(tx, email);
  await deleteMember(tx, tenant, id);
  await deleteStranger(tx, email);
  await appendAudit(tx, tenant, actor, {
    action: 'member_removed',
    subject: id,
    before: { role },
    after: null,
  });
}

/** The member, unless it is the last owner and would not be one any more. */
async function lockMember(
  tx: Tx,
  by: MemberChanger,
  id: string,
  role: MemberRole | undefined,
): Promise<Member> {
  await lockForCaller(tx, by);
  const members = await findMembers(tx, by.tenant);
  const member = members.find((each) => each.id === id);
  if (!member) throw notFound('member');
  // A person who is only invited could not go on as the owner.
  const counts = (each: Member) => each.role === 'owner' && (!member.joinedAt || each.joinedAt);
  const owners = members.filter(counts);
  if (member.role === 'owner' && role !== 'owner' && owners.length === 1) throw new Failure('last_owner');
  return member;
}
