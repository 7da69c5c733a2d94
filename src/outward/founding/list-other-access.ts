/**
 * What a founder sees after the first proof of the address: everything else that lets anyone use or watch the tenant.
 *
 * The signup may have been another person's. Until each of these was kept or removed, the founder's console shows nothing
 * but this question.
 */
import { hash } from 'node:crypto';
import { findKept, findUnkept } from '../../access/members/kept-access.sql.ts';
import { findMembers } from '../../access/members/members.sql.ts';
import type { AccessKind, NamedAccess } from '../../access/members/other-access.ts';
import type { ActorKind } from '../../base/audit/actor.ts';
import { findFirstActors } from '../../base/audit/audit-entries.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPaymentSettings } from '../../money/payments/payments.sql.ts';
import { findWebhooks } from '../webhooks/webhooks.sql.ts';

/** Shown of each kind. The next ones are shown once these are answered. */
export const ACCESS_LISTED_MAX = 100;

export interface OtherAccess extends NamedAccess {
  readonly kind: AccessKind;
  /** `undefined`: the audit trail does not say. */
  readonly maker: { readonly kind: ActorKind; readonly id: string } | undefined;
}

export interface OtherAccessList {
  readonly items: readonly OtherAccess[];
  /** It may charge a card. It is asked about last, when nothing is left that could turn it on again. */
  readonly hasAutoTopUp: boolean;
}

export async function listOtherAccess(db: Db, tenant: TenantId, founder: string): Promise<OtherAccessList> {
  const found = await findOtherAccess(db, tenant, founder, ACCESS_LISTED_MAX);
  const makers = await findFirstActors(
    db,
    tenant,
    found.map(({ id }) => id),
  );
  const { topUpEnabled } = await findPaymentSettings(db, tenant);
  return {
    items: found.map((each) => ({ ...each, maker: makers.get(each.id) })),
    hasAutoTopUp: topUpEnabled,
  };
}

/** Tells whether a list is the same as another one, in whatever order. */
export function digestOfAccess(items: readonly Pick<OtherAccess, 'kind' | 'id'>[]): string {
  const texts = items.map(({ kind, id }) => `${kind} ${id}`);
  return hash('sha256', texts.sort().join(), 'hex');
}

/** Up to `limit` of each kind that were not kept so far. */
export async function findOtherAccess(
  db: Db,
  tenant: TenantId,
  founder: string,
  limit: number,
): Promise<(NamedAccess & { readonly kind: AccessKind })[]> {
  const keys = await findUnkept(db, tenant, 'key', limit);
  const devices = await findUnkept(db, tenant, 'device', limit);
  const agents = await findUnkept(db, tenant, 'agent', limit);
  const keptMembers = await findKept(db, tenant, 'member');
  const members = (await findMembers(db, tenant)).filter(({ id }) => id !== founder && !keptMembers.has(id));
  const keptWebhooks = await findKept(db, tenant, 'webhook');
  const webhooks = (await findWebhooks(db, tenant)).filter(({ id }) => !keptWebhooks.has(id));
  return [
    ...keys.map((key) => ({ ...key, kind: 'key' as const })),
    ...devices.map((device) => ({ ...device, kind: 'device' as const })),
    ...agents.map((agent) => ({ ...agent, kind: 'agent' as const })),
    ...members.map(({ id, email: name, createdAt }) => ({ kind: 'member' as const, id, name, createdAt })),
    ...webhooks.map(({ id, url, createdAt }) => ({
      kind: 'webhook' as const,
      id,
      name: new URL(url).host,
      createdAt,
    })),
  ];
}
