/** SQL of `members`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { isMemberId, type Member, type MemberRole } from './member.ts';

const COLUMNS = 'id, email, role, created_at as "createdAt", joined_at as "joinedAt"';

/** `undefined` if the tenant has a member with this address. */
export async function insertMember(
  db: Db,
  tenant: TenantId,
  { email, role }: { readonly email: string; readonly role: MemberRole },
): Promise<Member | undefined> {
  const { rows } = await db.query<Member>({
    name: 'insert-member',
    text: `insert into members (tenant_id, id, email, role) values ($1, $2, lower($3), $4)
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

export async function findMember(db: Db, tenant: TenantId, id: string): Promise<Member | undefined> {
  if (!isMemberId(id)) return undefined;
  const { rows } = await db.query<Member>({
    name: 'find-member',
    text: `select ${COLUMNS} from members where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** A tenant that somebody is a member of. */
export interface Membership {
  readonly tenant: TenantId;
  readonly tenantName: string;
  readonly tenantStatus: TenantStatus;
  readonly member: string;
  readonly role: MemberRole;
}

/** The memberships of an address: those that can be used first, then the newest. At most `limit`. */
export async function findMemberships(db: Db, email: string, limit: number): Promise<Membership[]> {
  const { rows } = await db.query<Membership>({
    name: 'find-memberships',
    text: `select m.tenant_id as tenant, t.name as "tenantName", t.status as "tenantStatus", m.id as member, m.role
             from members m join tenants t on t.id = m.tenant_id
            where m.email = $1 and t.status <> 'deleted'
            order by t.status in ('pending', 'active') desc, m.created_at desc, m.id limit $2`,
    values: [email, limit],
  });
  return rows;
}

export async function markJoined(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'mark-member-joined',
    text: 'update members set joined_at = now() where tenant_id = $1 and id = $2 and joined_at is null',
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
