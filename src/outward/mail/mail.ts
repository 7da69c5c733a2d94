/** Mails to tenants: what they tell about, their states, and their limits. */
import type { TenantId } from '../../base/tenants/tenant.ts';

/** Events that mails tell about at once. */
export const ALERT_TYPES = [
  'balance_low',
  'balance_recovered',
  'runway_low',
  'runway_recovered',
  'credit_spent',
  'top_up_failed',
  'card_expiring',
  'conflicting_duplicates',
  'key_retiring',
  'payment_disputed',
  'webhook_paused',
] as const;

/** Events that mails are receipts of. */
export const RECEIPT_TYPES = ['top_up_succeeded'] as const;

export type MailType = (typeof ALERT_TYPES)[number] | (typeof RECEIPT_TYPES)[number];

export const MAIL_TYPES: readonly MailType[] = [...ALERT_TYPES, ...RECEIPT_TYPES];

export type MailKind = 'alert' | 'receipt';

/**
 * `kept`: no mail server was configured when it was due. `suppressed`: held back by the limit of a day.
 * `failed`: refused for good, or tried for a day.
 */
export type MailState = 'waiting' | 'sent' | 'failed' | 'kept' | 'suppressed';

/** Alerts that one address gets of one tenant on one day (UTC). Receipts do not count. */
export const ALERTS_A_DAY_MAX = 50;

/** How long mails are kept, with their addresses. */
export const MAIL_DAYS = 30;

/** What a mail tells about. */
export interface MailEvent {
  readonly type: MailType;
  readonly at: Date;
  /** As in the log. */
  readonly subject: unknown;
}

/** A mail as it is stored. */
export interface Mail {
  readonly id: string;
  readonly tenant: TenantId;
  readonly tenantName: string;
  readonly address: string;
  readonly kind: MailKind;
  readonly event: MailEvent;
  /** The last alert that this address gets on this day. */
  readonly isLast: boolean;
  readonly state: MailState;
  readonly createdAt: Date;
}

export function kindOf(type: MailType): MailKind {
  return (RECEIPT_TYPES as readonly string[]).includes(type) ? 'receipt' : 'alert';
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Waits after each failed attempt: about a day in all. */
const RETRY_SECONDS = [
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  40 * MINUTE,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  9 * HOUR,
] as const;

/** Seconds until the next attempt after this many; `undefined`: there is none. */
export function retryAfterSeconds(attempts: number): number | undefined {
  return RETRY_SECONDS[attempts - 1];
}

/** Longest time of one attempt. */
export const SENDING_SECONDS_MAX = 60;

/** Another process may send a mail again if the first one has not reported for so long. */
export const LEASE_SECONDS = 2 * SENDING_SECONDS_MAX;
