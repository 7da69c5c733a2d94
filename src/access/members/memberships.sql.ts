/**
 * SQL of what one person has: the tenants of which the address is a member, and the invitations that wait for a yes.
 *
 * Each list has an index of its own, so however many tenants invite an address, its own tenants are found as fast.
 */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Membership } from './member.ts';
import { isExpired } from './members.sql.ts';

const COLUMNS = `m.tenant_id as tenant, t.name as "tenantName", t.status as "tenantStatus", m.id as member, m.role,
  case when m.is_founder then t.created_at end as "foundedAt"`;
const FROM = 'from members m join tenants t on t.id = m.tenant_id';

/** Tenants in other states have no console. */
const IS_OPEN = "t.status in ('pending', 'active')";

/** Invited, and still in time. */
const WAITS = `m.joined_at is null and not ${isExpired('m')}`;

/** Where a list goes on, and how long it may be. */
interface Range {
  readonly after: TenantId | undefined;
  readonly limit: number;
}

/** The tenant of which the person is a member. */
export async function findOwnTenant(
  db: Db,
  email: string,
  tenant: TenantId,
): Promise<Membership | undefined> {
  const { rows } = await db.query<Membership>({
    name: 'find-own-tenant',
    text: `select ${COLUMNS} ${FROM}
            where m.tenant_id = $2 and m.email = $1 and m.joined_at is not null and t.status <> 'deleted'`,
    values: [email, tenant],
  });
  return rows[0];
}

/** The tenant that a person used last: one that has a console now, or else one that is suspended or archived. */
export async function findLastUsedTenant(db: Db, email: string): Promise<Membership | undefined> {
  const { rows } = await db.query<Membership>({
    name: 'find-last-used-tenant',
    text: `select ${COLUMNS} ${FROM}
            where m.email = $1 and m.joined_at is not null and t.status <> 'deleted'
            order by ${IS_OPEN} desc, m.last_used_at desc, m.tenant_id desc limit 1`,
    values: [email],
  });
  return rows[0];
}

/** Those that were used last come first. Without deleted tenants. */
export async function findOwnTenants(db: Db, email: string, { after, limit }: Range): Promise<Membership[]> {
  const { name, where, values } = filtered('find-own-tenants', [email, limit], {
    after: after !== undefined && [
      `(m.last_used_at, m.tenant_id) < (select last_used_at, tenant_id from members
                                        where tenant_id = ? and email = $1)`,
      after,
    ],
  });
  const { rows } = await db.query<Membership>({
    name,
    text: `select ${COLUMNS} ${FROM}
            where m.email = $1 and m.joined_at is not null and t.status <> 'deleted' ${where}
            order by m.last_used_at desc, m.tenant_id desc limit $2`,
    values,
  });
  return rows;
}

/** The invitation of one tenant that waits for a yes. */
export async function findInvitation(
  db: Db,
  email: string,
  tenant: TenantId,
): Promise<Membership | undefined> {
  const { rows } = await db.query<Membership>({
    name: 'find-invitation',
    text: `select ${COLUMNS} ${FROM}
            where m.tenant_id = $2 and m.email = $1 and ${WAITS} and ${IS_OPEN}`,
    values: [email, tenant],
  });
  return rows[0];
}

/** The newest come first. */
export async function findInvitations(db: Db, email: string, { after, limit }: Range): Promise<Membership[]> {
  const { name, where, values } = filtered('find-invitations', [email, limit], {
    after: after !== undefined && [
      `(m.created_at, m.tenant_id) < (select created_at, tenant_id from members
                                      where tenant_id = ? and email = $1)`,
      after,
    ],
  });
  const { rows } = await db.query<Membership>({
    name,
    text: `select ${COLUMNS} ${FROM}
            where m.email = $1 and ${WAITS} and ${IS_OPEN} ${where}
            order by m.created_at desc, m.tenant_id desc limit $2`,
    values,
  });
  return rows;
}

/** Whether a member or an invited person has the address. */
export async function isKnownAddress(db: Db, email: string): Promise<boolean> {
  const { rows } = await db.query<{ isKnown: boolean }>({
    name: 'is-known-address',
    text: `select exists (select ${FROM} where m.email = $1 and m.joined_at is not null and t.status <> 'deleted')
               or exists (select ${FROM} where m.email = $1 and ${WAITS} and t.status <> 'deleted')
               as "isKnown"`,
    values: [email],
  });
  return rows[0]!.isKnown;
}
