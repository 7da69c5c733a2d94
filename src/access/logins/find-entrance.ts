/**
 * Where the log-in of a person leads: into a tenant of which the person is a member, or to a question.
 *
 * A log-in makes no members, so a tenant that only invites the person is never opened by it.
 */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import { hasConsole, parseTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { Membership } from '../members/member.ts';
import {
  findInvitation,
  findInvitations,
  findLastUsedTenant,
  findOwnTenant,
  findOwnTenants,
} from '../members/memberships.sql.ts';
import type { ProvedPerson } from './login-link.ts';

/** Tenants on a page of each list of a person. */
export const TENANTS_PAGE_SIZE = 50;

export interface Entrance {
  /** What a log-in opens: the tenant that was asked for, or else the one that was used last. */
  readonly own: Membership | undefined;
  /** The tenant that was used last, if another one is opened because this one is suspended or archived. */
  readonly passedOver?: TenantId | undefined;
  /** To be answered first: the one that was asked for, or, for a person without a tenant that has a console now, all of them. */
  readonly invitations: readonly Membership[];
  /** The last of `invitations`, if there are more. */
  readonly end: TenantId | undefined;
}

/** `next`: the page that is wanted, which may name a tenant. `after`: the end of the invitations so far. */
export async function findEntrance(
  db: Db,
  { email, tenant }: Pick<ProvedPerson, 'email' | 'tenant'>,
  next: string,
  after?: TenantId,
): Promise<Entrance> {
  const wanted = tenant ?? tenantOf(next);
  const named = wanted === undefined ? undefined : await findOwnTenant(db, email, wanted);
  if (named) return { own: named, invitations: [], end: undefined };
  const own = await findLastUsedTenant(db, email);
  const invited = wanted === undefined ? undefined : await findInvitation(db, email, wanted);
  if (invited) return { own, invitations: [invited], end: undefined };
  if (own && hasConsole(own.tenantStatus)) {
    const [last] = await findOwnTenants(db, email, { after: undefined, limit: 1 });
    const passedOver = last && !hasConsole(last.tenantStatus) ? last.tenant : undefined;
    return { own, passedOver, invitations: [], end: undefined };
  }
  const { items, end } = await readPage(TENANTS_PAGE_SIZE, (limit) =>
    findInvitations(db, email, { after, limit }),
  );
  return { own, invitations: items, end: end?.tenant };
}

/** The page to begin with, which tells about the tenant that was passed over. */
export function nextPageOf({ passedOver }: Pick<Entrance, 'passedOver'>, next: string): string {
  if (passedOver === undefined) return next;
  return `${next}${next.includes('?') ? '&' : '?'}passed_over=${renderTenantId(passedOver)}`;
}

/** Pages of mails name their tenant. */
function tenantOf(next: string): TenantId | undefined {
  const [, query = ''] = next.split(/\?(.*)/s);
  return parseTenantId(new URLSearchParams(query).get('tenant') ?? '');
}
