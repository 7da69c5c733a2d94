/**
 * Whose card automatic top-ups may charge.
 *
 * A stranger who signs up with another person's address has a key before that person proves the address. Such a key is not
 * trusted. It may have a card charged that was paid without a member, as over REST alone; the card of a member it may not.
 */
import { Failure } from '../../base/failure.ts';

/** In SQL, of `payment_settings s`: what `hasConsent()` says. */
export const HAS_CONSENT = '(s.card_member is null or s.top_up_key is null)';

export interface TopUpConsent {
  /** The member who paid with the saved card, with an address that was proved. */
  readonly cardMember: string | null;
  /** The key that made the settings of automatic top-ups, if it is not trusted. */
  readonly topUpKey: string | null;
}

export function hasConsent({ cardMember, topUpKey }: TopUpConsent): boolean {
  return cardMember === null || topUpKey === null;
}

/** `key`: the one that turns automatic top-ups on, if it is not trusted. Fails with `permission_denied`. */
export function refuseForeignCard(cardMember: string | null, key: string | null): void {
  if (hasConsent({ cardMember, topUpKey: key })) return;
  throw new Failure('permission_denied', {
    message:
      'permission denied: a member paid with the saved card, and no member who proved an address of this tenant vouches ' +
      'for this key. Turn automatic top-up on in the console',
  });
}
