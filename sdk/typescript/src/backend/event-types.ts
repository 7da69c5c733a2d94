/** The data of events. Made by scripts/make-event-types.ts; not to be edited. */

/** An amount of money. */
export interface AmountData {
  /** Millionths of a US dollar. */
  micros: number;
  /** The same for people, such as `-$0.000009`. */
  display: string;
}

/** A room. */
export interface RoomData {
  /** The name of the room. */
  name: string;
  /** Identifies the room. A later room of the name has another one. */
  uid: string;
  /** Whether users may still enter. */
  state: 'live' | 'ended';
  /** The rules of the room. */
  policy: {
    /** `MEETING`: any participant may get the right to publish; `BROADCAST`: few publish. */
    mode: 'MEETING' | 'BROADCAST';
    /** Media must be encrypted from end to end. */
    e2ee_required: boolean;
    /** Only users whose age was verified may enter. */
    age_verification_required: boolean;
    /** Where relays should serve the room. May be empty. */
    region: string;
    /** How many users may be present. 0: no limit. */
    max_participants: number;
    /** New users may not enter. */
    locked: boolean;
    /** What tokens of hosts grant if a mint names nothing. Empty: the usual. */
    host_capabilities: string[];
    /** The same for the other roles. */
    audience_capabilities: string[];
    /** Clients start with the microphone off. */
    mute_on_entry: boolean;
  };
  /** When it was created. */
  created_at: string;
  /** When it ended. Absent: it is live. */
  ended_at?: string | undefined;
  /** `closed`: by a moderator. Absent: it is live. */
  end_reason?: 'ended' | 'closed' | 'watchdog' | undefined;
  /** How many users are present. */
  participant_count: number;
  /** The tenant's own text. May be empty. */
  metadata: string;
}

/** A user in a room. */
export interface ParticipantData {
  /** The name of the room. */
  room: string;
  /** The uid of the room, which no later room of the name has. */
  room_uid: string;
  /** The name of the user. */
  username: string;
  /** The role in the room. */
  role: 'host' | 'audience' | 'broadcast_audience';
  /** 0 to 99. Moderators act only on lower ranks. */
  rank: number;
  /** What the user may do, without what a moderator has taken away. */
  capabilities: string[];
  /** What a moderator has muted. */
  muted: ('audio' | 'video' | 'screen' | 'data')[];
  /** What a moderator has revoked the right to publish. */
  publish_revoked: ('audio' | 'video' | 'screen' | 'data')[];
  /** The tier of the newest usage record. Absent: none yet. */
  tier?: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus' | undefined;
  /** When the user last entered. */
  entered_at: string;
  /** When the newest usage record arrived. Absent: none yet. */
  last_seen_at?: string | undefined;
  /** When the last token expires. */
  expires_at: string;
  /** When the user left. Absent: the user is present. */
  left_at?: string | undefined;
  /** Why the user left. Absent: the user is present. */
  leave_reason?: 'expired' | 'kicked' | 'banned' | 'ended' | 'watchdog' | undefined;
  /** Devices with valid tokens. */
  devices: {
    /** The thumbprint of the key of the device. */
    thumbprint: string;
    /** The API key or device credential that asked for its last token. */
    key_id: string;
    /** The customer that the mint of its last token named. Absent: none. */
    customer?: string | undefined;
    /** When its last token expires. */
    expires_at: string;
  }[];
}

/** What a moderator did. */
export interface ModerationData {
  /** The number of the event. The record of the act has it as its id. */
  id: number;
  /** What was done. */
  action:
    | 'kick'
    | 'ban'
    | 'unban'
    | 'force_mute'
    | 'release_mute'
    | 'revoke_publish'
    | 'restore_publish'
    | 'close_room';
  /** The name of the room. Absent: the whole tenant. */
  room?: string | undefined;
  /** The uid of the room. Absent: the whole tenant. */
  room_uid?: string | undefined;
  /** On whom or what the moderator acted. Absent: on the room. */
  subject?:
    | {
        /** What `value` is. */
        kind: 'user' | 'device' | 'cidr';
        /** A username, the thumbprint of a device, or a range of addresses. */
        value: string;
      }
    | undefined;
  /** Which tracks, for mutes and rights to publish. */
  tracks: ('audio' | 'video' | 'screen' | 'data')[];
  /** As given. May be empty. */
  reason: string;
  /** The participant who acted. Absent: the tenant, or a watchdog. */
  actor?: string | undefined;
  /** The API key of the call. Absent: a watchdog, or a person at the console. */
  key_id?: string | undefined;
  /** The member who acted at the console. Absent: none. */
  member_id?: string | undefined;
  /** The watchdog that acted. Absent: none. */
  watchdog_id?: string | undefined;
  /** When it was done. */
  at: string;
  /** When the ban ends. Absent: it has no end, or is no ban. */
  expires_at?: string | undefined;
}

/** A watchdog of a room. */
export interface WatchdogData {
  /** The id of the watchdog. */
  id: string;
  /** The name of the room. */
  room: string;
  /** The uid of the room, which no later room of the name has. */
  room_uid: string;
  /** What it waits for. */
  condition:
    | 'max_duration'
    | 'unused_for'
    | 'empty_for'
    | 'host_absent_for'
    | 'alone_for'
    | 'participant_max_duration'
    | 'unadmitted_for';
  /** How long that must last, in milliseconds. */
  duration_ms: number;
  /** What it does then. */
  action: 'end_room' | 'kick' | 'revoke_publish' | 'notify';
  /** How long before an event warns of it. 0: none does. */
  warn_before_ms: number;
  /** Where it stands. */
  state: 'armed' | 'warned' | 'fired' | 'disarmed';
  /** When it will fire if nothing changes. Absent: its condition does not hold. */
  deadline?: string | undefined;
  /** When it last fired. Absent: it has not. */
  fired_at?: string | undefined;
  /** When it was created. */
  created_at: string;
}

/** The balance, at zero. */
export interface CreditData {
  /** The balance after the change. */
  balance: AmountData;
  /** Whether new sessions and tokens are admitted from now on. */
  admitted: boolean;
}

/** The balance, and the threshold that it crossed. */
export interface BalanceAlertData {
  /** The balance after the change. */
  balance: AmountData;
  /** The threshold. */
  below: AmountData;
}

/** How long the balance lasts, and the threshold that this crossed. */
export interface RunwayAlertData {
  /** The balance. */
  balance: AmountData;
  /** The threshold, in hours. */
  below_hours: number;
  /** What usage takes in an hour. */
  burn_per_hour: AmountData;
  /** How long the balance lasts. 0: nothing is left. Absent: nothing is used. */
  runway_hours?: number | undefined;
  /** When the balance is spent. Absent: nothing is left, nothing is used, or it lasts beyond the year 9999. */
  empty_at?: string | undefined;
}

/** A budget, and what of it is spent. */
export interface BudgetAlertData {
  /** The id of the budget. */
  budget: string;
  /** The share that is spent. */
  percent: number;
  /** What was charged in this period. */
  spent: AmountData;
  /** What may be spent in a period. */
  limit: AmountData;
  /** When the period began. */
  period_started_at: string;
}

/** A payment for credit, or an attempt at one. */
export interface TopUpData {
  /** `true`: the saved card was charged; `false`: a checkout. */
  automatic: boolean;
  /** The credit that was to be paid for, without tax. */
  amount: AmountData;
  /** The provider's id of the payment. Absent: there was none. */
  payment_id?: string | undefined;
  /** Why it failed, as in `last_top_up_error`. Absent: it succeeded. */
  error?: string | undefined;
}

/** Credit that a refund or a dispute moved. */
export interface PaymentReversalData {
  /** The provider's id of the payment. */
  payment_id: string;
  /** What moved the credit. */
  kind: 'refund' | 'dispute';
  /** The provider's id of the refund or dispute. */
  reference: string;
  /** Negative if credit was taken back, positive if it was given back. */
  amount: AmountData;
}

/** A dispute of a payment. */
export interface PaymentDisputeData {
  /** The provider's id of the payment. */
  payment_id: string;
  /** `inquiry`: the bank only asks, and takes nothing; `fraud_warning`: of the card network, before any dispute. */
  kind: 'dispute' | 'inquiry' | 'fraud_warning';
  /** The provider's id of the dispute or warning. */
  reference: string;
  /** What is disputed, tax included. For a warning, the whole payment. */
  amount: AmountData;
  /** In the provider's words, such as `fraudulent`. Absent: not known. */
  reason?: string | undefined;
}

/** The end of a dispute. */
export interface PaymentDisputeEndData {
  /** The provider's id of the payment. */
  payment_id: string;
  /** The provider's id of the dispute or warning. */
  reference: string;
  /** `closed`: an inquiry or a warning ended. A lost dispute may be won later, on appeal. */
  outcome: 'closed' | 'lost' | 'won';
}

/** The saved card. */
export interface CardExpiryData {
  /** In the provider's words, such as `visa`. */
  brand: string;
  /** The last four digits of its number. */
  last4: string;
  /** The last month in which it pays, such as `2026-12`. */
  expires: string;
}

/** Granted credit. */
export interface GrantExpiryData {
  /** The id of the grant. */
  grant_id: string;
  /** Why it was granted. */
  reason: string;
  /** What was granted. */
  amount: AmountData;
  /** What is not spent yet. It leaves the balance at the end. */
  left: AmountData;
  /** When it ends. */
  expires_at: string;
}

/** The reports of known ids with other values since the last such event. */
export interface ConflictingDuplicatesData {
  /** How many reports. An id that came twice counts twice. */
  count: number;
  /** The first of their ids, at most 10, each once. */
  ids: string[];
  /** When the first of them came. */
  first_at: string;
}

/** The statement of a month. */
export interface ReadyStatementData {
  /** Such as `2026-10`. */
  month: string;
  /** The balance at the start of the month. */
  opening: AmountData;
  /** The balance at its end. */
  closing: AmountData;
}

/** The status of the tenant. */
export interface TenantStatusData {
  /** The status before. */
  from: 'pending' | 'active' | 'suspended' | 'archived' | 'deleted';
  /** The status after. */
  to: 'pending' | 'active' | 'suspended' | 'archived' | 'deleted';
  /** Whether usage is accepted without being charged. */
  exempt: boolean;
  /** Whether new sessions and tokens are admitted from now on. */
  admitted: boolean;
}

/** A change of an API key. */
export interface KeyChangeData {
  /** The key. After a rotation, the new one. */
  key: {
    /** The second part of the plaintext. */
    id: string;
    /** As given when it was created. */
    name: string;
    /** `backend`: everything of the tenant; `relay`: reports of usage. */
    kind: 'backend' | 'relay';
    /** When it was created. */
    created_at: string;
    /** Until when it works beside its replacement. Absent: it was not rotated. */
    retires_at?: string | undefined;
    /** When it was revoked or retired. Absent: it was not. */
    revoked_at?: string | undefined;
  };
  /** The id of the old one. Absent: it was not rotated. */
  replaced_id?: string | undefined;
  /** When the old one stops working. Absent: it was not rotated. */
  replaced_retires_at?: string | undefined;
}

/** A key that a rotation replaced. */
export interface KeyRetirementData {
  /** The id of the old API key or device credential. */
  key_id: string;
  /** Its name. */
  name: string;
  /** `device`: a device credential. */
  kind: 'backend' | 'relay' | 'device';
  /** When it stops working. */
  retires_at: string;
}

/** A change of a device credential. */
export interface DeviceCredentialChangeData {
  /** The credential. After a rotation, the new one. */
  credential: {
    /** The second part of the plaintext. */
    id: string;
    /** As given when it was created. */
    name: string;
    /** What devices that join with it may send. */
    publish: ('audio' | 'video' | 'screen' | 'data')[];
    /** Names and patterns of rooms. Absent: every room. */
    rooms?: string[] | undefined;
    /** The room of a join that names none. Absent: `lobby`. */
    default_room?: string | undefined;
    /** Until when it works. Absent: without an end. */
    expires_at?: string | undefined;
    /** When it was created. */
    created_at: string;
    /** Until when it works beside its replacement. Absent: it was not rotated. */
    retires_at?: string | undefined;
    /** When it was revoked or retired. Absent: it was not. */
    revoked_at?: string | undefined;
  };
  /** The id of the old one. Absent: it was not rotated. */
  replaced_id?: string | undefined;
  /** When the old one stops working. Absent: it was not rotated. */
  replaced_retires_at?: string | undefined;
}

/** A webhook that was paused. */
export interface WebhookPauseData {
  /** The id of the webhook. */
  webhook_id: string;
  /** The host of its address, and the port if it has one. */
  host: string;
  /** As given. Absent: it has none. */
  description?: string | undefined;
  /** `failing`: the last attempt of a delivery failed; `gone`: the answer was 410. */
  reason: 'failing' | 'gone';
  /** The number of the event that could not be delivered. */
  seq: number;
  /** How often that was tried. */
  attempts: number;
  /** The status of the last answer. Absent: there was none. */
  status?: number | undefined;
  /** Why there was no answer. Absent: there was one. */
  error?: string | undefined;
}

/** A test. */
export interface WebhookTestData {
  /** A sentence for people. */
  message: string;
}

/** The data of an event, by its type. */
export interface EventData {
  room_created: RoomData;
  room_updated: RoomData;
  room_ended: RoomData;
  participant_entered: ParticipantData;
  participant_updated: ParticipantData;
  participant_left: ParticipantData;
  moderation: ModerationData;
  watchdog_warned: WatchdogData;
  watchdog_rearmed: WatchdogData;
  watchdog_fired: WatchdogData;
  credit_spent: CreditData;
  credit_restored: CreditData;
  balance_low: BalanceAlertData;
  balance_recovered: BalanceAlertData;
  runway_low: RunwayAlertData;
  runway_recovered: RunwayAlertData;
  budget_alert: BudgetAlertData;
  top_up_succeeded: TopUpData;
  top_up_failed: TopUpData;
  payment_reversed: PaymentReversalData;
  payment_disputed: PaymentDisputeData;
  payment_dispute_closed: PaymentDisputeEndData;
  card_expiring: CardExpiryData;
  grant_expiring: GrantExpiryData;
  conflicting_duplicates: ConflictingDuplicatesData;
  statement_ready: ReadyStatementData;
  tenant_status_changed: TenantStatusData;
  key_created: KeyChangeData;
  key_rotated: KeyChangeData;
  key_revoked: KeyChangeData;
  key_retiring: KeyRetirementData;
  device_credential_created: DeviceCredentialChangeData;
  device_credential_rotated: DeviceCredentialChangeData;
  device_credential_revoked: DeviceCredentialChangeData;
  webhook_paused: WebhookPauseData;
  webhook_test: WebhookTestData;
}
