/** SQL of `members`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { MemberRole } from '../rights/abilities.ts';
import { INVITATION_DAYS, type Member } from './member.ts';

/** Whether the person of a row of `members` was invited and did not answer in time. */
export function isExpired(row: string): string {
  return `(${row}.joined_at is null and not ${row}.is_founder
           and ${row}.created_at <= now() - interval '${INVITATION_DAYS} days')`;
}

const COLUMNS = `id, email, role, created_at as "createdAt", joined_at as "joinedAt",
  is_founder as "isFounder", ${isExpired('members')} as "isExpired", must_review as "mustReview"`;

/** `undefined` if the tenant has a member with this address. That of the signup is the founder's, however often it is invited. */
export async function insertMember(
  db: Db,
  tenant: TenantId,
  { email, role }: { readonly email: string; readonly role: MemberRole },
): Promise<Member | undefined> {
  const { rows } = await db.query<Member>({
    name: 'insert-member',
    text: `insert into members (tenant_id, id, email, role, is_founder)
           select $1, $2, lower($3), $4, lower(t.email) = lower($3) from tenants t where t.id = $1
           on conflict (tenant_id, email) do nothing returning ${COLUMNS}`,
    values: [tenant, newId('m'), email, role],
  });
  return rows[0];
}

/** In the order in which they were added. */
export async function findMembers(db: Db, tenant: TenantId): Promise<Member[]> {
  const { rows } = await db.query<Member>({
    name: 'find-members',
    text: `select ${COLUMNS} from members where tenant_id = $1 order by created_at, id`,
    values: [tenant],
  });
  return rows;
}

export async function findMemberByEmail(
  db: Db,
  tenant: TenantId,
  email: string,
): Promise<Member | undefined> {
  const { rows } = await db.query<Member>({
    name: 'find-member-by-email',
    text: `select ${COLUMNS} from members where tenant_id = $1 and email = $2`,
    values: [tenant, email],
  });
  return rows[0];
}

export async function markJoined(
  tx: Tx,
  tenant: TenantId,
  id: string,
  { mustReview }: Pick<Member, 'mustReview'>,
): Promise<void> {
  await tx.query({
    name: 'mark-member-joined',
    text: `update members set joined_at = t.now, last_used_at = t.now, must_review = $3
             from (select now() as now) t where tenant_id = $1 and id = $2`,
    values: [tenant, id, mustReview],
  });
}

/** The person opens the tenant: the next log-in does, too. */
export async function noteMemberUse(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'note-member-use',
    text: 'update members set last_used_at = now() where tenant_id = $1 and id = $2 and joined_at is not null',
    values: [tenant, id],
  });
}

export async function markReviewed(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'mark-member-reviewed',
    text: 'update members set must_review = false where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}

/** The time to answer begins again. */
export async function renewInvitation(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'renew-invitation',
    text: 'update members set created_at = now() where tenant_id = $1 and id = $2 and joined_at is null',
    values: [tenant, id],
  });
}

export async function updateRole(tx: Tx, tenant: TenantId, id: string, role: MemberRole): Promise<void> {
  await tx.query({
    name: 'update-member-role',
    text: 'update members set role = $3 where tenant_id = $1 and id = $2',
    values: [tenant, id, role],
  });
}

/** The sessions of the member go with it. */
export async function deleteMember(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'delete-member',
    text: 'delete from members where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}
