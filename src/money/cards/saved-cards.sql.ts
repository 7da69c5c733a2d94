/** SQL of what `payment_settings` know of saved cards, and of `card_notices`. */
import { clock } from '../../base/db/distribution.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { firstInShares, inShares, type Share } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { CardDetails } from '../payments/saved-card.ts';
import type { CardExpiry } from './card-events.ts';

/** A saved card whose details are not known. */
export interface UnknownCard {
  readonly tenant: TenantId;
  readonly paymentMethodId: string;
  /** Identifies this claim: when the next one may begin, with microseconds. */
  readonly claim: string;
}

/** Claim the card that has waited longest. Without details, it is due again after `leaseSeconds`. */
export async function claimUnknownCard(db: Db, leaseSeconds: number): Promise<UnknownCard | undefined> {
  const unknown = { table: 'payment_settings', where: IS_UNKNOWN };
  return firstInShares(db, unknown, (share) => claimInShare(db, share, leaseSeconds));
}

const IS_UNKNOWN = `payment_method_id is not null and card_ends_on is null
  and (card_look_at is null or card_look_at <= now())`;

async function claimInShare(db: Db, share: Share, leaseSeconds: number): Promise<UnknownCard | undefined> {
  const { rows } = await db.query<UnknownCard>({
    name: share.name('claim-unknown-card'),
    text: `with due as (
             select tenant_id from payment_settings where ${IS_UNKNOWN} ${share.and('tenant_id', 2)}
              order by card_look_at nulls first for no key update skip locked limit 1
           ), claimed as (
             update payment_settings s set card_look_at = ${clock()} + make_interval(secs => $1)
               from due where s.tenant_id = due.tenant_id ${share.and('s.tenant_id', 2)}
             returning s.*
           )
           select tenant_id as tenant, payment_method_id as "paymentMethodId", card_look_at::text as claim from claimed`,
    values: [leaseSeconds, ...share.values],
  });
  return rows[0];
}

/** Changes nothing if the card was replaced or changed since it was claimed: what was asked may be out of date. */
export async function updateCardDetails(db: Db, card: UnknownCard, details: CardDetails): Promise<void> {
  await db.query({
    name: 'update-card-details',
    text: `update payment_settings
              set card_brand = $4, card_last4 = $5, card_ends_on = $6, card_look_at = null
            where tenant_id = $1 and payment_method_id = $2 and card_look_at = $3::timestamptz`,
    values: [card.tenant, card.paymentMethodId, card.claim, details.brand, details.last4, details.endsOn],
  });
}

/** Do not ask about the card again for so long. Changes nothing if it was replaced or changed meanwhile. */
export async function postponeCard(db: Db, card: UnknownCard, seconds: number): Promise<void> {
  await db.query({
    name: 'postpone-card',
    text: `update payment_settings set card_look_at = ${clock()} + make_interval(secs => $4)
            where tenant_id = $1 and payment_method_id = $2 and card_look_at = $3::timestamptz`,
    values: [card.tenant, card.paymentMethodId, card.claim, seconds],
  });
}

/** The details of this card changed: they are asked anew. */
export async function forgetCardDetails(tx: Tx, paymentMethodId: string): Promise<void> {
  await tx.query({
    name: 'forget-card-details',
    text: `update payment_settings
              set card_brand = null, card_last4 = null, card_ends_on = null, card_look_at = null
            where payment_method_id = $1`,
    values: [paymentMethodId],
  });
}

export interface ExpiringCard extends CardExpiry {
  readonly tenant: TenantId;
}

/**
 * Up to `limit` cards that automatic top-ups would charge, and that end within `days`. From now on they count as told,
 * each once for each end. Settings that another transaction has locked are left for the next time.
 */
export async function takeExpiringCards(
  tx: Tx,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<ExpiringCard[]> {
  const ending = { table: 'payment_settings', where: ENDING, values: [days] };
  const taken = await inShares(tx, ending, (share) => takeInShare(tx, share, { days, limit }));
  return taken.flat();
}

const ENDING = `top_up_enabled and payment_method_id is not null
  and card_ends_on <= (now() at time zone 'UTC')::date + $1::integer`;

async function takeInShare(
  tx: Tx,
  share: Share,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<ExpiringCard[]> {
  const { rows } = await tx.query<ExpiringCard>({
    name: share.name('take-expiring-cards'),
    text: `with ending as (
             select s.tenant_id, coalesce(s.card_fingerprint, s.payment_method_id) as card, s.card_ends_on as ends_on,
                    s.card_brand, s.card_last4
               from payment_settings s join tenants t on t.id = s.tenant_id
              where s.top_up_enabled and s.payment_method_id is not null
                and s.card_ends_on <= (now() at time zone 'UTC')::date + $1::integer
                and t.status = 'active' and not t.exempt ${share.and('s.tenant_id', 3)}
                and not exists (select from card_notices n
                                 where n.tenant_id = s.tenant_id ${share.and('n.tenant_id', 3)} and n.ends_on = s.card_ends_on
                                   and n.card = coalesce(s.card_fingerprint, s.payment_method_id))
              order by s.card_ends_on for no key update of s skip locked limit $2
           ), told as (
             insert into card_notices (tenant_id, card, ends_on) select tenant_id, card, ends_on from ending
             on conflict do nothing returning tenant_id
           )
           select e.tenant_id as tenant, e.card_brand as brand, e.card_last4 as last4,
                  to_char(e.ends_on - 1, 'YYYY-MM') as expires
             from ending e join told using (tenant_id)`,
    values: [days, limit, ...share.values],
  });
  return rows;
}
