/** Mails to tenants: what they tell about, their states, and their limits. */
import type { TenantId } from '../../base/tenants/tenant.ts';

/** Events that mails tell about at once. */
export const ALERT_TYPES = [
  'balance_low',
  'balance_recovered',
  'runway_low',
  'runway_recovered',
  'budget_alert',
  'credit_spent',
  'top_up_failed',
  'card_expiring',
  'grant_expiring',
  'conflicting_duplicates',
  'key_retiring',
  'payment_disputed',
  'webhook_paused',
] as const;

/** Events that mails are receipts of. */
export const RECEIPT_TYPES = ['top_up_succeeded'] as const;

/** Events about the account itself. No setting turns them off. */
const ACCOUNT_TYPES = ['tenant_status_changed'] as const;

/** What mails of the console tell about. It is no event of the log. */
export const CONSOLE_TYPES = ['login_link', 'invitation'] as const;

/** Types of mails that events cause. */
export type EventMailType =
  | (typeof ALERT_TYPES)[number]
  | (typeof RECEIPT_TYPES)[number]
  | (typeof ACCOUNT_TYPES)[number];

export type ConsoleMailType = (typeof CONSOLE_TYPES)[number];

export type MailType = EventMailType | ConsoleMailType;

/** The types of events that the listener wants. */
export const EVENT_MAIL_TYPES: readonly EventMailType[] = [
  ...ALERT_TYPES,
  ...RECEIPT_TYPES,
  ...ACCOUNT_TYPES,
];

export type EventMailKind = 'alert' | 'receipt' | 'account';

export type MailKind = EventMailKind | 'console';

/**
 * `kept`: no mail server was configured when it was due. `suppressed`: held back by the limit of a day.
 * `failed`: refused for good, or tried too often. `expired`: its link expired before it was sent.
 */
export type MailState = 'waiting' | 'sent' | 'failed' | 'kept' | 'suppressed' | 'expired';

/** Alerts that one address gets of one tenant on one day (UTC). Receipts do not count. */
export const ALERTS_A_DAY_MAX = 50;

/** How long mails are kept, with their addresses, unless the operator says otherwise. No mail is tried for as long as the least. */
export const MAIL_DAYS = 30;
export const MAIL_DAYS_MIN = 7;

/** What a mail tells about. */
export interface MailEvent {
  readonly type: MailType;
  readonly at: Date;
  /** As in the log. Of an invitation: the role. */
  readonly subject: unknown;
}

/** A mail as it is stored. */
export interface Mail {
  readonly id: string;
  /** `null`: a link to log in, which is for a person. */
  readonly tenant: TenantId | null;
  readonly tenantName: string | null;
  readonly address: string;
  readonly kind: MailKind;
  readonly event: MailEvent;
  /** The last alert that this address gets on this day. */
  readonly isLast: boolean;
  readonly state: MailState;
  readonly createdAt: Date;
}

/** Where a developer reads mails that are not sent. `undefined`: there is a mail server, or this is production. */
export type MailsShown = { readonly mailboxUrl: string } | 'in the log' | undefined;

export function isConsoleType(type: MailType): type is ConsoleMailType {
  return (CONSOLE_TYPES as readonly string[]).includes(type);
}

export function kindOf(type: EventMailType): EventMailKind {
  if ((ACCOUNT_TYPES as readonly string[]).includes(type)) return 'account';
  return (RECEIPT_TYPES as readonly string[]).includes(type) ? 'receipt' : 'alert';
}

/** Longest time of one attempt. */
export const SENDING_SECONDS_MAX = 60;

/** Another process may send a mail again if the first one has not reported for so long. */
export const LEASE_SECONDS = 2 * SENDING_SECONDS_MAX;

/** Operators see how many mails wait or failed, counted up to this number. */
export const COUNTED_MAX = 1_000;
