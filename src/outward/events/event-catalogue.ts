/**
 * The types of events that tenants see, with what each tells. A type that is not listed is left out everywhere.
 */
import type { Happening } from '../../control/streams/stream-event.ts';
import type { WebhookPause } from './webhook-pause.ts';

/** The subject of each type, with the types of this wing. */
export type PublicHappening = Happening | { readonly type: 'webhook_paused'; readonly subject: WebhookPause };

/** One line each, for the documentation. */
export const PUBLIC_EVENTS = {
  room_created: 'A room was created.',
  room_updated: 'The policy or the metadata of a room changed.',
  room_ended: 'A room ended.',
  participant_entered: 'A user entered a room.',
  participant_updated: 'The role, the rank, the capabilities or the devices of a user in a room changed.',
  participant_left: 'A user left a room.',
  moderation: 'A moderator acted: a kick, a ban, a mute, and the like.',
  watchdog_warned: 'A watchdog is about to fire.',
  watchdog_rearmed: 'A watchdog that had warned will not fire for now.',
  watchdog_fired: 'A watchdog fired.',
  credit_spent: 'The balance fell to zero or below.',
  credit_restored: 'The balance rose above zero again.',
  balance_low: 'The balance fell below a threshold.',
  balance_recovered: 'The balance is at a threshold or above it again.',
  runway_low: 'At the present rate, the balance will last for less time than a threshold.',
  runway_recovered: 'At the present rate, the balance will last for longer than a threshold again.',
  top_up_succeeded: 'A payment was credited.',
  top_up_failed: 'A payment failed.',
  payment_reversed: 'A refund or a dispute took credit back, or gave it back.',
  payment_disputed: 'A payment is disputed.',
  payment_dispute_closed: 'A dispute ended.',
  card_expiring: 'The saved card expires soon.',
  conflicting_duplicates: 'Relays report ids of usage records again with other values.',
  tenant_status_changed: 'The status of the tenant, or its exemption from charging, changed.',
  key_created: 'An API key was created.',
  key_rotated: 'An API key was replaced.',
  key_revoked: 'An API key was revoked.',
  key_retiring: 'A replaced API key or device credential soon stops working.',
  device_credential_created: 'A device credential was created.',
  device_credential_rotated: 'A device credential was replaced.',
  device_credential_revoked: 'A device credential was revoked.',
  webhook_paused: 'A webhook was paused, because its deliveries failed.',
} as const satisfies Readonly<Record<PublicHappening['type'], string>>;

export type PublicEventType = keyof typeof PUBLIC_EVENTS;

export const PUBLIC_EVENT_TYPES = Object.keys(PUBLIC_EVENTS) as PublicEventType[];

/** Sent on request to try out a webhook. It is not in the log, so nothing can ask for it. */
export const TEST_EVENT_TYPE = 'webhook_test';

/** The types that were asked for; none means all. A type that is no longer public is left out. */
export function wantedTypes(asked: readonly string[]): readonly string[] {
  return asked.length === 0 ? PUBLIC_EVENT_TYPES : asked.filter((type) => type in PUBLIC_EVENTS);
}
