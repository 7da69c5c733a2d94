/** The REST interface. Made by scripts/make-rest-types.ts; not to be edited. */

/** An amount of money. */
export interface Amount {
  /** Millionths of a US dollar. */
  micros: bigint;
  /** The same for people, such as `-$0.000009`. */
  display: string;
}

/** An exact amount of money. */
export interface ExactAmount {
  /** In micros, rounded to 13 decimals: `558.7935447692871`. */
  decimal: string;
  /** Exact: `numerator` / `denominator` micros. An integer of any length. */
  numerator: string;
  /** The same for all exact amounts. */
  denominator: string;
}

/** A customer of the platform, with its settings for payments. */
export interface Tenant {
  /** The id of the tenant. */
  id: string;
  /** As given at signup. */
  name: string;
  /** As given at signup. */
  email: string;
  /** `pending` until the first payment; only `active` tenants admit sessions. */
  status: 'pending' | 'active' | 'suspended' | 'archived' | 'deleted';
  /** A saved payment method exists. */
  hasCard: boolean;
  /** The rule of automatic top-ups. */
  autoTopUp: {
    /** Whether the saved card is charged automatically. */
    enabled: boolean;
    /** The balance below which it is charged. */
    below: Amount;
    /** What it is charged. */
    amount: Amount;
  };
  /** What stops automatic top-ups, or why the last one failed. Absent: neither. */
  lastTopUpError?: string | undefined;
  /** When the tenant signed up. */
  createdAt: Date;
}

/** One change of the balance. */
export interface LedgerEntry {
  /** What changed the balance. */
  kind: LedgerKind;
  /** By how much the balance changed; charges are negative. */
  amount: Amount;
  /** The charge was limited by the ceiling. */
  capped: boolean;
  /** For usage, the room; for payments, the provider's id. */
  reference: string;
  /** For usage, the participant. */
  detail?: string | undefined;
  /** When the balance changed. */
  at: Date;
}

/** An API key, without its secret. */
export interface ApiKey {
  /** The second part of the plaintext. */
  id: string;
  /** As given when it was created. */
  name: string;
  /** `backend`: everything of the tenant; `relay`: reports of usage. */
  kind: 'backend' | 'relay';
  /** When it was created. */
  createdAt: Date;
  /** Until when it works beside its replacement. Absent: it was not rotated. */
  retiresAt?: Date | undefined;
  /** When it was revoked or retired. Absent: it was not. */
  revokedAt?: Date | undefined;
}

/** The prices in effect. */
export interface RateCard {
  /** In lower case: `usd`. */
  currency: string;
  /** How a charge comes about, in words. */
  model: string;
  /** What a GiB of a hosted relay's egress costs the platform. */
  egressCostPerGib: Amount;
  /** Markup on that cost; 1500 is 15 %. */
  markupBasisPoints: number;
  /** Fee for a GiB of egress, whether or not the tenant hosts the relay. */
  platformFeePerGib: Amount;
  /** The most that 1000 minutes of one participant cost, by role and tier. */
  ceilingPer1000ParticipantMinutes: {
    /** Ceilings of host, by tier. */
    host: {
      /** The most that host pays at audio. */
      audio: Amount;
      /** The most that host pays at hd. */
      hd: Amount;
      /** The most that host pays at full_hd. */
      full_hd: Amount;
      /** The most that host pays at 2k. */
      '2k': Amount;
      /** The most that host pays at 2k_plus. */
      '2k_plus': Amount;
    };
    /** Ceilings of audience, by tier. */
    audience: {
      /** The most that audience pays at audio. */
      audio: Amount;
      /** The most that audience pays at hd. */
      hd: Amount;
      /** The most that audience pays at full_hd. */
      full_hd: Amount;
      /** The most that audience pays at 2k. */
      '2k': Amount;
      /** The most that audience pays at 2k_plus. */
      '2k_plus': Amount;
    };
    /** Ceilings of broadcast_audience, by tier. */
    broadcast_audience: {
      /** The most that broadcast_audience pays at audio. */
      audio: Amount;
      /** The most that broadcast_audience pays at hd. */
      hd: Amount;
      /** The most that broadcast_audience pays at full_hd. */
      full_hd: Amount;
      /** The most that broadcast_audience pays at 2k. */
      '2k': Amount;
      /** The most that broadcast_audience pays at 2k_plus. */
      '2k_plus': Amount;
    };
  };
}

/** Entries after the first 1000, added up. */
export interface FurtherEntries {
  /** How many. */
  count: number;
  /** Of all of them. */
  sum: Amount;
}

/** Rooms after the first 500, added up. */
export interface FurtherRooms {
  /** How many rooms. */
  rooms: number;
  /** Records, charged and unbilled. */
  records: number;
  /** Seconds that participants were connected. */
  seconds: number;
  /** Bytes sent to participants. May exceed 64 bits. */
  egressBytes: bigint;
  /** Bytes received from participants. May exceed 64 bits. */
  ingressBytes: bigint;
  /** What was charged. */
  total: Amount;
  /** What would have been charged, while the tenant was exempt. */
  unbilled: Amount;
}

/** Name, address and tax id. What is absent is not known. */
export interface BillingDetails {
  /** The legal name. */
  name?: string | undefined;
  /** The lines of the postal address; none is as if it were absent. */
  address?: string[] | undefined;
  /** The tax id, as it is written. */
  taxId?: string | undefined;
}

/** What the operator granted, and what left at an end. */
export interface GrantedCredit {
  /** What of the opening balance was granted; the rest was paid. */
  opening: Amount;
  /** The first ones, in the order of time. */
  entries: {
    /** When the balance changed. */
    at: Date;
    /** What changed the balance. */
    kind: 'grant' | 'grant_expired' | 'grant_voided';
    /** By how much. */
    amount: Amount;
    /** The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a correction, its period. */
    reference?: string | undefined;
    /** Why an adjustment, a correction or a grant was made. */
    detail?: string | undefined;
    /** The payment that was reversed. */
    payment?: string | undefined;
  }[];
  /** Those that are not listed. Absent: there are none. */
  others?: FurtherEntries | undefined;
  /** Of all of them. */
  sum: Amount;
  /** What was spent of granted credit. */
  spent: Amount;
  /** What of the closing balance was granted; the rest was paid. */
  closing: Amount;
}

/** The statement. */
export interface Statement {
  /** Of this form: always 1. */
  version: number;
  /** The public address of the deployment. */
  iss: string;
  /** Those of the operator, as they are now. */
  issuerDetails?: BillingDetails | undefined;
  /** Whose statement it is. */
  tenant: {
    /** The id of the tenant. */
    id: string;
    /** As given at signup. */
    name: string;
    /** Those that held at the end of the month, or the first ones that were given later. Absent: there are none. */
    details?: BillingDetails | undefined;
  };
  /** A month in the time zone of the tenant. */
  month: string;
  /** Start of the month. */
  from: Date;
  /** End of the month; what happened at that time is not in it. */
  to: Date;
  /** In which the month ends, by its IANA name. Absent: UTC. */
  timeZone?: string | undefined;
  /** Always true: the month is not over. Absent: it is. */
  soFar?: boolean | undefined;
  /** Always `usd`. */
  currency: string;
  /** The balance at the start of the month. */
  opening: Amount;
  /** What was paid in. */
  payments: {
    /** The first ones, in the order of time. */
    entries: {
      /** When the balance changed. */
      at: Date;
      /** What changed the balance. */
      kind: 'top_up' | 'auto_top_up';
      /** By how much. */
      amount: Amount;
      /** The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a correction, its period. */
      reference?: string | undefined;
      /** Why an adjustment, a correction or a grant was made. */
      detail?: string | undefined;
      /** The payment that was reversed. */
      payment?: string | undefined;
    }[];
    /** Those that are not listed. Absent: there are none. */
    others?: FurtherEntries | undefined;
    /** Of all of them. */
    sum: Amount;
  };
  /** Refunds and disputes, and what they gave back. */
  reversals: {
    /** The first ones, in the order of time. */
    entries: {
      /** When the balance changed. */
      at: Date;
      /** What changed the balance. */
      kind: 'refund' | 'dispute';
      /** By how much. */
      amount: Amount;
      /** The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a correction, its period. */
      reference?: string | undefined;
      /** Why an adjustment, a correction or a grant was made. */
      detail?: string | undefined;
      /** The payment that was reversed. */
      payment?: string | undefined;
    }[];
    /** Those that are not listed. Absent: there are none. */
    others?: FurtherEntries | undefined;
    /** Of all of them. */
    sum: Amount;
  };
  /** What the operator gave or took back. */
  adjustments: {
    /** The first ones, in the order of time. */
    entries: {
      /** When the balance changed. */
      at: Date;
      /** What changed the balance. */
      kind: 'adjustment' | 'correction';
      /** By how much. */
      amount: Amount;
      /** The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a correction, its period. */
      reference?: string | undefined;
      /** Why an adjustment, a correction or a grant was made. */
      detail?: string | undefined;
      /** The payment that was reversed. */
      payment?: string | undefined;
    }[];
    /** Those that are not listed. Absent: there are none. */
    others?: FurtherEntries | undefined;
    /** Of all of them. */
    sum: Amount;
  };
  /** What was granted, and what left at an end. Absent: there was none. */
  grants?: GrantedCredit | undefined;
  /** What usage cost. Unbilled usage moved no balance. */
  usage: {
    /** The most expensive first. */
    rooms: {
      /** As reported; empty for records without one. */
      room: string;
      /** Records, charged and unbilled. */
      records: number;
      /** Seconds that participants were connected. */
      seconds: number;
      /** Bytes sent to participants. May exceed 64 bits. */
      egressBytes: bigint;
      /** Bytes received from participants. May exceed 64 bits. */
      ingressBytes: bigint;
      /** What was charged. */
      total: Amount;
      /** What would have been charged, while the tenant was exempt. */
      unbilled: Amount;
    }[];
    /** Those that are not listed. Absent: there are none. */
    others?: FurtherRooms | undefined;
    /** Of all rooms. */
    sum: UsageSums;
  };
  /** The balance at the end: opening, payments, reversals, adjustments and grants, less usage. */
  closing: Amount;
}

/** Sums of usage. */
export interface UsageSums {
  /** Records, charged and unbilled. */
  records: number;
  /** Seconds that participants were connected. */
  seconds: number;
  /** Bytes sent to participants. May exceed 64 bits. */
  egressBytes: bigint;
  /** Bytes received from participants. May exceed 64 bits. */
  ingressBytes: bigint;
  /** What was charged. */
  total: Amount;
  /** What would have been charged, while the tenant was exempt. */
  unbilled: Amount;
}

/** An endpoint that gets the events of the tenant, without its secret. */
export interface Webhook {
  /** The id of the webhook. */
  id: string;
  /** Where events go. */
  url: string;
  /** Which types of events it gets. Empty: all. */
  types: string[];
  /** Names and patterns of rooms whose events it gets. Empty: all events. */
  rooms: string[];
  /** As given. May be empty. */
  description: string;
  /** Names of the headers that each request has besides, in lower case. May be empty. */
  headerNames: string[];
  /** Whether requests have Basic authentication. */
  hasBasicAuth: boolean;
  /** `tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side; `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by itself. */
  order: 'tenant' | 'room' | 'none';
  /** Requests at once, in an order other than `tenant`. */
  maxInFlight: number;
  /** Requests in a second. Absent: as many as it accepts. */
  maxPerSecond?: number | undefined;
  /** `boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0. */
  format: 'boxoffice' | 'cloudevents';
  /** Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`, or a batch of CloudEvents. */
  maxBatch: number;
  /** `paused`: nothing is delivered, and events wait. */
  state: 'active' | 'paused';
  /** `tenant`: by a request; `failing`: the last attempt of a delivery failed; `gone`: the answer was 410. Absent: it is active. */
  pausedBy?: 'tenant' | 'failing' | 'gone' | undefined;
  /** Since when it is paused. Absent: it is active. */
  pausedAt?: Date | undefined;
  /** Every wanted event up to this number has been delivered, or is put aside. */
  deliveredSeq: bigint;
  /** Events that are put aside, and are tried again by themselves. At most 10000, and 1000 until the tenant has paid: later events wait then. */
  waiting: number;
  /** When the first of these is tried again; one that is past: as soon as there is room. Absent: none is put aside, or the webhook is paused. */
  waitingRetryAt?: Date | undefined;
  /** Events that were given up and not sent again since: `dead-letters` lists them. 1000 means so many or more. */
  givenUp: number;
  /** Failed attempts since the last delivery. */
  failures: number;
  /** Nothing is tried again before. Absent: nothing has failed, or is retried. */
  retryAt?: Date | undefined;
  /** Verify the signatures `v1a`: of all secrets that sign now, the newest first. */
  publicKeys: string[];
  /** Addresses and networks that requests come from, for firewalls. Absent: the operator does not say. */
  sentFrom?: string[] | undefined;
  /** When it was created. */
  createdAt: Date;
}

/** An attempt to send an event. */
export interface WebhookDelivery {
  /** The id of the attempt. */
  id: string;
  /** `event`: in its place; `aside`: an event that was put aside, so later ones may have come before; `test`: the test event; `resend`: an event that was asked for again. */
  kind: 'event' | 'aside' | 'test' | 'resend';
  /** The id of the event. The header `webhook-id` is the same, unless the request was a list. */
  eventId: string;
  /** The header `webhook-id` of the request, which was a list of events. Absent: it was the event. */
  batchId?: string | undefined;
  /** The number of the event. Absent: a test. */
  seq?: bigint | undefined;
  /** The type of the event, or `webhook_test`. */
  type: string;
  /** Counts the attempts to deliver the event in a row, from 1. */
  attempt: number;
  /** The answer had a status from 200 to 299. */
  delivered: boolean;
  /** It was the last attempt: the event is not sent again. */
  gaveUp: boolean;
  /** Of the answer. Absent: there was none. */
  status?: number | undefined;
  /** Why there was no answer. Absent: there was one. */
  error?: string | undefined;
  /** The first 1024 characters of the answer. */
  answer?: string | undefined;
  /** From the start of the request to its outcome. */
  latencyMs: number;
  /** When the outcome was known. */
  at: Date;
}

/** An event that was given up, and was not sent again since. */
export interface DeadLetter {
  /** The id of the event, which is the header `webhook-id`. */
  eventId: string;
  /** The number of the event. */
  seq: bigint;
  /** The type of the event. */
  type: string;
  /** The name of its room. Absent: it has none. */
  room?: string | undefined;
  /** When it happened. Absent: it is not kept any more, and cannot be sent again. */
  happenedAt?: Date | undefined;
  /** How often it was sent in vain. */
  attempts: number;
  /** Why the last attempt failed: `refused`: the answer had another status than 2xx; `unanswered`: there was none. The webhook accepted other events meanwhile. */
  reason: 'refused' | 'unanswered';
  /** Of the last answer. Absent: there was none. */
  status?: number | undefined;
  /** Why there was no answer. Absent: there was one. */
  error?: string | undefined;
  /** The first 1024 characters of the last answer. */
  answer?: string | undefined;
  /** When the last attempt had failed. */
  givenUpAt: Date;
}

/** A header that each request of a webhook has. */
export interface WebhookHeader {
  /** The name of the header. */
  name: string;
  /** Its value: printable ASCII. */
  value: string;
}

/** Basic authentication of each request of a webhook. */
export interface BasicAuth {
  /** Without a colon. */
  username: string;
  /** May be empty. */
  password: string;
}

/** What changed a balance. */
export type LedgerKind =
  | 'usage'
  | 'top_up'
  | 'auto_top_up'
  | 'refund'
  | 'dispute'
  | 'adjustment'
  | 'correction'
  | 'grant'
  | 'grant_expired'
  | 'grant_voided';

/** What happened. */
export type WebhookEventType =
  | 'room_created'
  | 'room_updated'
  | 'room_ended'
  | 'participant_entered'
  | 'participant_updated'
  | 'participant_left'
  | 'moderation'
  | 'watchdog_warned'
  | 'watchdog_rearmed'
  | 'watchdog_fired'
  | 'credit_spent'
  | 'credit_restored'
  | 'balance_low'
  | 'balance_recovered'
  | 'runway_low'
  | 'runway_recovered'
  | 'budget_alert'
  | 'top_up_succeeded'
  | 'top_up_failed'
  | 'payment_reversed'
  | 'payment_disputed'
  | 'payment_dispute_closed'
  | 'card_expiring'
  | 'grant_expiring'
  | 'conflicting_duplicates'
  | 'statement_ready'
  | 'tenant_status_changed'
  | 'key_created'
  | 'key_rotated'
  | 'key_revoked'
  | 'key_retiring'
  | 'device_credential_created'
  | 'device_credential_rotated'
  | 'device_credential_revoked'
  | 'webhook_paused';

/** What each operation takes and gives. */
export interface Operations {
  /** The rate card in effect. */
  'GET /v1/rates': {
    /** The answer. */
    answer: RateCard;
  };
  /** What a room would cost. */
  'POST /v1/rates/simulate': {
    /** The body. */
    body: {
      /** Who is in the room. Each line stands for `count` participants who are alike. */
      participants: {
        /** What they are in the room: it decides the ceiling. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** The sum of all video that each receives at once: it decides the ceiling. */
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        /** How many participants are like this. */
        count: number;
        /** How long each of them is connected. */
        seconds: number;
        /** Bytes sent to each of them. */
        egressBytes: number;
        /** The interval that the relay reports. Absent: one record for the whole time. */
        intervalSeconds?: number | undefined;
      }[];
    };
    /** The answer. */
    answer: {
      /** The version of the rate card in effect. */
      rateVersion: number;
      /** The version of the pricing rule. */
      ruleVersion: number;
      /** `carry`: fractions of a micro go to the next charge; `per_record`: each record is rounded. */
      rounding: 'carry' | 'per_record';
      /** One for each of the request, in order. */
      lines: {
        /** As given in `count`. */
        participants: number;
        /** Usage records that a relay would report for them. */
        records: number;
        /** The platform fee on their egress. */
        fee: ExactAmount;
        /** The ceiling for their time. */
        ceiling: ExactAmount;
        /** The ceiling is lower than the fee and makes the price. */
        capped: boolean;
        /** The lower of the two. */
        price: ExactAmount;
        /** The price in whole micros, after the lines before it. */
        amount: Amount;
      }[];
      /** Of all lines. */
      participants: number;
      /** Of all lines. */
      records: number;
      /** The exact price of all lines. */
      price: ExactAmount;
      /** What the room costs: the sum of the amounts of all lines. */
      total: Amount;
      /** The fraction that the tenant's charges have left over. */
      carryBefore: ExactAmount;
      /** The fraction that this charge would leave over. */
      carryAfter: ExactAmount;
      /** True: usage of this tenant is priced and not charged. */
      exempt: boolean;
      /** Prepaid credit now. */
      balance: Amount;
      /** Prepaid credit after this charge, without any top-up. */
      balanceAfter: Amount;
      /** The credit is enough: `balance_after` is not negative. */
      covered: boolean;
    };
  };
  /** Create a tenant, its first backend key and a checkout. */
  'POST /v1/signup': {
    /** The body. */
    body: {
      /** The address of the customer. */
      email: string;
      /** The name of the customer. */
      name: string;
    };
    /** The answer. */
    answer: {
      /** The id of the tenant. */
      tenant: string;
      /** Until the first payment. */
      status: 'pending';
      /** The plaintext of the key `default`, shown once. */
      apiKey: string;
      /** The id of this key. */
      keyId: string;
      /** A page to pay on. Empty when no checkout could be opened. */
      checkoutUrl: string;
      /** A reminder that the key is shown once. */
      note: string;
    };
  };
  /** The tenant, its balance and its newest ledger entries. */
  'GET /v1/billing': {
    /** The answer. */
    answer: {
      /** A customer of the platform, with its settings for payments. */
      tenant: Tenant;
      /** Prepaid credit that is left; may be negative. */
      balance: Amount;
      /** New sessions and tokens are admitted. */
      admitted: boolean;
      /** The newest entries of the ledger, newest first. */
      recent: LedgerEntry[];
    };
  };
  /** Open a page on which credit is paid for. */
  'POST /v1/billing/checkout': {
    /** The body. */
    body: {
      /** What to pay, in whole cents. */
      amountCents: number;
    };
    /** The answer. */
    answer: {
      /** The page, to open in a browser. */
      checkoutUrl: string;
    };
  };
  /** Open the portal for receipts and saved cards. */
  'POST /v1/billing/portal': {
    /** The answer. */
    answer: {
      /** The portal, to open in a browser. */
      portalUrl: string;
    };
  };
  /** Charge the saved card whenever the balance falls below a threshold. */
  'PUT /v1/billing/auto-top-up': {
    /** The body. */
    body: {
      /** Whether to charge the saved card automatically. */
      enabled: boolean;
      /** The balance below which to charge it, in whole cents. */
      belowCents?: number | undefined;
      /** What to charge, in whole cents; when enabled, 1000 to 1000000. */
      amountCents?: number | undefined;
    };
    /** The answer. */
    answer: Tenant;
  };
  /** Name, address and tax id on statements. */
  'GET /v1/billing/details': {
    /** The answer. */
    answer: BillingDetails;
  };
  /** Set name, address and tax id on statements. */
  'PUT /v1/billing/details': {
    /** The body. */
    body: {
      /** The legal name. */
      name?: string | undefined;
      /** The lines of the postal address; none is as if it were absent. */
      address?: string[] | undefined;
      /** The tax id, as it is written. */
      taxId?: string | undefined;
    };
    /** The answer. */
    answer: BillingDetails;
  };
  /** Where days and months begin. */
  'GET /v1/billing/time-zone': {
    /** The answer. */
    answer: {
      /** That of this month, by its IANA name. */
      timeZone: string;
      /** What was set since. Absent: nothing else. */
      nextTimeZone?: string | undefined;
      /** When the next one begins, with a month. */
      nextFrom?: Date | undefined;
    };
  };
  /** Set where days and months begin. */
  'PUT /v1/billing/time-zone': {
    /** The body. */
    body: {
      /** The IANA name. */
      timeZone: string;
    };
    /** The answer. */
    answer: {
      /** That of this month, by its IANA name. */
      timeZone: string;
      /** What was set since. Absent: nothing else. */
      nextTimeZone?: string | undefined;
      /** When the next one begins, with a month. */
      nextFrom?: Date | undefined;
    };
  };
  /** How long the credit lasts, and which rooms use most of it. */
  'GET /v1/billing/runway': {
    /** In the query. */
    query?: {
      /** Of the rooms; `24h` if it is left out. */
      window?: '1h' | '24h' | '7d' | undefined;
    };
    /** The answer. */
    answer: {
      /** The instant that the answer is about. */
      at: Date;
      /** Prepaid credit that is left; may be negative. */
      balance: Amount;
      /** Nothing is left: the balance is 0 or less. */
      empty: boolean;
      /** For each of the windows. */
      burn: {
        /** The hours or days up to now. */
        window: '1h' | '24h' | '7d';
        /** What usage took in them. */
        spent: Amount;
        /** The same for an hour, rounded up. */
        perHour: Amount;
        /** How long the balance lasts at this rate, without grants that end before; 0: it is spent; null: nothing is used. */
        runwayHours: number | null;
        /** When it is spent. Null: it is spent already, or never, or after the year 9999. */
        emptyAt: Date | null;
      }[];
      /** The rooms that cost most. */
      rooms: {
        /** As asked for. */
        window: '1h' | '24h' | '7d';
        /** The start of the hour in which the window begins: rooms are added up by hours. */
        from: Date;
        /** What all rooms took since then. */
        spent: Amount;
        /** Those that took most, the most expensive first. */
        top: {
          /** As reported; empty for records without one. */
          room: string;
          /** What its usage took. */
          amount: Amount;
          /** Of what all rooms took: 0 to 1. */
          share: number;
        }[];
      };
    };
  };
  /** The thresholds below which you are alerted. */
  'GET /v1/alerts': {
    /** The answer. */
    answer: {
      /** Those of `balance` first, then the largest first. */
      thresholds: {
        /** `balance`: an amount of credit; `runway`: hours that the credit lasts. */
        kind: 'balance' | 'runway';
        /** For `balance`: millionths of a US dollar. */
        belowMicros?: bigint | undefined;
        /** For `runway`: hours. */
        belowHours?: number | undefined;
        /** Since when the balance is below it. Null: it is not. */
        raisedAt: Date | null;
      }[];
    };
  };
  /** Replace all thresholds. */
  'PUT /v1/alerts': {
    /** The body. */
    body: {
      /** All of them, each once; none turns alerts off. */
      thresholds: {
        /** `balance`: an amount of credit; `runway`: hours that the credit lasts. */
        kind: 'balance' | 'runway';
        /** For `balance`: millionths of a US dollar. */
        belowMicros?: bigint | undefined;
        /** For `runway`: hours. */
        belowHours?: number | undefined;
      }[];
    };
    /** The answer. */
    answer: {
      /** Those of `balance` first, then the largest first. */
      thresholds: {
        /** `balance`: an amount of credit; `runway`: hours that the credit lasts. */
        kind: 'balance' | 'runway';
        /** For `balance`: millionths of a US dollar. */
        belowMicros?: bigint | undefined;
        /** For `runway`: hours. */
        belowHours?: number | undefined;
        /** Since when the balance is below it. Null: it is not. */
        raisedAt: Date | null;
      }[];
    };
  };
  /** All budgets. */
  'GET /v1/budgets': {
    /** The answer. */
    answer: {
      /** The budgets. */
      budgets: {
        /** As you chose it. */
        id: string;
        /** As tokens and relays know it; a budget that is made again has another one. */
        uid: string;
        /** Id of an API key or a device credential: tokens that it asked for. */
        key?: string | undefined;
        /** A name, in which `*` stands for any characters: tokens of these rooms. */
        room?: string | undefined;
        /** Tokens that were minted with this `customer`. */
        customer?: string | undefined;
        /** What it is for: each day or month, in UTC, or everything. */
        period: 'day' | 'month' | 'total';
        /** An amount of money. */
        limit: Amount;
        /** Tokens that do not fit are refused. Otherwise events tell, and nothing is refused. */
        hard: boolean;
        /** An event tells of each that is spent, once a period. Ascending. */
        alertPercents: number[];
        /** An amount of money. */
        spent: Amount;
        /** An amount of money. */
        held: Amount;
        /** An amount of money. */
        free: Amount;
        /** An amount of money. */
        beyond: Amount;
        /** Since when `spent` counts: the start of the period, or of the budget. */
        periodStartedAt: Date;
        /** When it was made. */
        createdAt: Date;
      }[];
    };
  };
  /** One budget. */
  'GET /v1/budgets/{id}': {
    /** In the path. */
    path: {
      /** The id of the budget, which you choose. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** As you chose it. */
      id: string;
      /** As tokens and relays know it; a budget that is made again has another one. */
      uid: string;
      /** Id of an API key or a device credential: tokens that it asked for. */
      key?: string | undefined;
      /** A name, in which `*` stands for any characters: tokens of these rooms. */
      room?: string | undefined;
      /** Tokens that were minted with this `customer`. */
      customer?: string | undefined;
      /** What it is for: each day or month, in UTC, or everything. */
      period: 'day' | 'month' | 'total';
      /** An amount of money. */
      limit: Amount;
      /** Tokens that do not fit are refused. Otherwise events tell, and nothing is refused. */
      hard: boolean;
      /** An event tells of each that is spent, once a period. Ascending. */
      alertPercents: number[];
      /** An amount of money. */
      spent: Amount;
      /** An amount of money. */
      held: Amount;
      /** An amount of money. */
      free: Amount;
      /** An amount of money. */
      beyond: Amount;
      /** Since when `spent` counts: the start of the period, or of the budget. */
      periodStartedAt: Date;
      /** When it was made. */
      createdAt: Date;
    };
  };
  /** Make or change a budget. */
  'PUT /v1/budgets/{id}': {
    /** In the path. */
    path: {
      /** The id of the budget, which you choose. */
      id: string;
    };
    /** The body. */
    body: {
      /** Id of an API key or a device credential: tokens that it asked for. */
      key?: string | undefined;
      /** A name, in which `*` stands for any characters: tokens of these rooms. */
      room?: string | undefined;
      /** Tokens that were minted with this `customer`. */
      customer?: string | undefined;
      /** What it is for: each day or month, in UTC, or everything. */
      period: 'day' | 'month' | 'total';
      /** Millionths of a US dollar. 0 and `hard` admits nothing that could cost anything. */
      limitMicros: bigint;
      /** Refuse tokens that could cost more than is left. */
      hard: boolean;
      /** Percentages of the limit of which an event tells. Left out: none. */
      alertPercents?: number[] | undefined;
    };
    /** The answer. */
    answer: {
      /** As you chose it. */
      id: string;
      /** As tokens and relays know it; a budget that is made again has another one. */
      uid: string;
      /** Id of an API key or a device credential: tokens that it asked for. */
      key?: string | undefined;
      /** A name, in which `*` stands for any characters: tokens of these rooms. */
      room?: string | undefined;
      /** Tokens that were minted with this `customer`. */
      customer?: string | undefined;
      /** What it is for: each day or month, in UTC, or everything. */
      period: 'day' | 'month' | 'total';
      /** An amount of money. */
      limit: Amount;
      /** Tokens that do not fit are refused. Otherwise events tell, and nothing is refused. */
      hard: boolean;
      /** An event tells of each that is spent, once a period. Ascending. */
      alertPercents: number[];
      /** An amount of money. */
      spent: Amount;
      /** An amount of money. */
      held: Amount;
      /** An amount of money. */
      free: Amount;
      /** An amount of money. */
      beyond: Amount;
      /** Since when `spent` counts: the start of the period, or of the budget. */
      periodStartedAt: Date;
      /** When it was made. */
      createdAt: Date;
    };
  };
  /** Delete a budget. */
  'DELETE /v1/budgets/{id}': {
    /** In the path. */
    path: {
      /** The id of the budget, which you choose. */
      id: string;
    };
    /** The answer. */
    answer: undefined;
  };
  /** All payments that were credited. */
  'GET /v1/payments': {
    /** In the query. */
    query?: {
      /** Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`. */
      from?: string | undefined;
      /** End of the period; what happened at that time is not in it. */
      to?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The payments. */
      payments: {
        /** The provider's id, which the ledger entries of the payment name. */
        id: string;
        /** `top_up`: by checkout; `auto_top_up`: from the saved card. */
        kind: 'top_up' | 'auto_top_up';
        /** The credit that was paid for, without tax. */
        amount: Amount;
        /** What was paid on top of it as tax. Absent: nothing. */
        tax?: Amount | undefined;
        /** How much of the credit refunds and disputes have taken back. */
        reversed: Amount;
        /** When it was credited. */
        at: Date;
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** The provider's receipt of a payment. */
  'GET /v1/payments/{id}/receipt': {
    /** In the path. */
    path: {
      /** The id of the payment. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** The receipt, to open in a browser. */
      url: string;
      /** The invoice, to open in a browser. Absent: there is none. */
      invoiceUrl?: string | undefined;
    };
  };
  /** Granted credit, and what is left of it. */
  'GET /v1/grants': {
    /** In the query. */
    query?: {
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The grants. */
      grants: {
        /** The id, which the ledger entries of the grant name. */
        id: string;
        /** `active`: usage spends it; `spent`: nothing is left; `expired` and `voided`: what was left left the balance. */
        state: 'active' | 'spent' | 'expired' | 'voided';
        /** Why it was granted. */
        reason: string;
        /** What was granted: the sum of `left`, `spent` and `forfeited`. */
        amount: Amount;
        /** What usage may still spend. */
        left: Amount;
        /** What usage spent, or what the tenant owed before. */
        spent: Amount;
        /** What was left when it expired or was voided. */
        forfeited: Amount;
        /** When it was granted. */
        grantedAt: Date;
        /** When what is left leaves the balance. Absent: never. */
        expiresAt?: Date | undefined;
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** All keys, revoked ones too. */
  'GET /v1/keys': {
    /** In the query. */
    query?: {
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The keys. */
      keys: ApiKey[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Create a key. */
  'POST /v1/keys': {
    /** The body. */
    body: {
      /** For your own lists: where it is used. */
      name: string;
      /** `backend`: everything of the tenant; `relay`: reports of usage. */
      kind?: 'backend' | 'relay' | undefined;
    };
    /** The answer. */
    answer: {
      /** An API key, without its secret. */
      key: ApiKey;
      /** The plaintext, shown once. */
      apiKey: string;
    };
  };
  /** Revoke a key at once. */
  'DELETE /v1/keys/{id}': {
    /** In the path. */
    path: {
      /** The id of the key or credential. */
      id: string;
    };
    /** In the query. */
    query?: {
      /** `stop-service`: also the last working key of its kind. */
      confirm?: string | undefined;
    };
    /** The answer. */
    answer: undefined;
  };
  /** Replace a key; the old one works on for the overlap. */
  'POST /v1/keys/{id}/rotate': {
    /** In the path. */
    path: {
      /** The id of the key or credential. */
      id: string;
    };
    /** The body. */
    body?: {
      /** How long the old one still works; by default a day, at most a week. */
      overlapSeconds?: number | undefined;
    };
    /** The answer. */
    answer: {
      /** An API key, without its secret. */
      key: ApiKey;
      /** The plaintext, shown once. */
      apiKey: string;
      /** Until when the old key works. */
      oldKeyRetires: Date;
    };
  };
  /** All webhooks. */
  'GET /v1/webhooks': {
    /** The answer. */
    answer: {
      /** The webhooks. */
      webhooks: Webhook[];
    };
  };
  /** Create a webhook. */
  'POST /v1/webhooks': {
    /** The body. */
    body: {
      /** Where events go: an `https` URL of the public internet, without user name, password and fragment, of at most 2048 characters. */
      url: string;
      /** Which types of events it gets. Empty: all. */
      types?: WebhookEventType[] | undefined;
      /** Names of rooms, or beginnings of names before a `*`. It gets only events of these rooms then. Empty: all events, also those that concern no room. */
      rooms?: string[] | undefined;
      /** For your own lists. */
      description?: string | undefined;
      /** Headers that each request has besides. No later answer has their values. Not those that the request has itself: `content-...`, `webhook-...`, `host` and the like. Empty: none. */
      headers?: WebhookHeader[] | undefined;
      /** Basic authentication of each request. No later answer has it. Both empty: none. */
      basicAuth?: BasicAuth | undefined;
      /** `tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side; `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by itself. */
      order?: 'tenant' | 'room' | 'none' | undefined;
      /** Requests at once, in an order other than `tenant`. */
      maxInFlight?: number | undefined;
      /** Requests in a second. 0: as many as it accepts. */
      maxPerSecond?: number | undefined;
      /** `boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0. */
      format?: 'boxoffice' | 'cloudevents' | undefined;
      /** Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`, or a batch of CloudEvents. */
      maxBatch?: number | undefined;
    };
    /** The answer. */
    answer: {
      /** An endpoint that gets the events of the tenant, without its secret. */
      webhook: Webhook;
      /** Verifies the signatures `v1`. Shown once. */
      secret: string;
      /** Verifies the signatures `v1a`, and may be public. */
      publicKey: string;
    };
  };
  /** One webhook. */
  'GET /v1/webhooks/{id}': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The answer. */
    answer: Webhook;
  };
  /** Change, pause or resume a webhook. */
  'PATCH /v1/webhooks/{id}': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The body. */
    body: {
      /** Where events go: an `https` URL of the public internet, without user name, password and fragment, of at most 2048 characters. */
      url?: string | undefined;
      /** Which types of events it gets. Empty: all. */
      types?: WebhookEventType[] | undefined;
      /** Names of rooms, or beginnings of names before a `*`. It gets only events of these rooms then. Empty: all events, also those that concern no room. */
      rooms?: string[] | undefined;
      /** For your own lists. */
      description?: string | undefined;
      /** Headers that each request has besides. No later answer has their values. Not those that the request has itself: `content-...`, `webhook-...`, `host` and the like. Empty: none. Left out: as before. */
      headers?: WebhookHeader[] | undefined;
      /** Basic authentication of each request. No later answer has it. Both empty: none. Left out: as before. */
      basicAuth?: BasicAuth | undefined;
      /** `tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side; `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by itself. */
      order?: 'tenant' | 'room' | 'none' | undefined;
      /** Requests at once, in an order other than `tenant`. */
      maxInFlight?: number | undefined;
      /** Requests in a second. 0: as many as it accepts. */
      maxPerSecond?: number | undefined;
      /** `boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0. */
      format?: 'boxoffice' | 'cloudevents' | undefined;
      /** Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`, or a batch of CloudEvents. */
      maxBatch?: number | undefined;
      /** `true`: deliver nothing for now; `false`: go on at once, where the deliveries stopped. */
      paused?: boolean | undefined;
    };
    /** The answer. */
    answer: Webhook;
  };
  /** Delete a webhook. */
  'DELETE /v1/webhooks/{id}': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The answer. */
    answer: undefined;
  };
  /** Replace the secret; the old ones sign too for the overlap. */
  'POST /v1/webhooks/{id}/rotate': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The body. */
    body?: {
      /** How long the old secrets sign too; by default a day, at most a week. */
      overlapSeconds?: number | undefined;
    };
    /** The answer. */
    answer: {
      /** An endpoint that gets the events of the tenant, without its secret. */
      webhook: Webhook;
      /** Verifies the signatures `v1`. Shown once. */
      secret: string;
      /** Verifies the signatures `v1a`, and may be public. */
      publicKey: string;
      /** Until when the old secrets sign too. */
      oldSecretRetires: Date;
    };
  };
  /** Attempts to send events to a webhook. */
  'GET /v1/webhooks/{id}/deliveries': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** In the query. */
    query?: {
      /** Only attempts that ended so. `delivered`: the answer had a status from 200 to 299; `failed`: it had another one, or there was none. Left out: all. */
      outcome?: 'delivered' | 'failed' | undefined;
      /** How many at once: at most 500, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The attempts. */
      deliveries: WebhookDelivery[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Events that a webhook was not sent in the end. */
  'GET /v1/webhooks/{id}/dead-letters': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** In the query. */
    query?: {
      /** How many at once: at most 500, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The events. */
      deadLetters: DeadLetter[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Send a test event now. */
  'POST /v1/webhooks/{id}/test': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** An attempt to send an event. */
      delivery: WebhookDelivery;
    };
  };
  /** Send one event again now, or all since a time in order. */
  'POST /v1/webhooks/{id}/resend': {
    /** In the path. */
    path: {
      /** The id of the webhook. */
      id: string;
    };
    /** The body. */
    body: {
      /** The number of one event. */
      seq?: bigint | undefined;
      /** A day (UTC) or a time, such as `2026-11-01T00:00:00Z`. */
      since?: string | undefined;
      /** With `since`: only what was given up since then. Left out: everything that is wanted. */
      onlyFailed?: boolean | undefined;
    };
    /** The answer. */
    answer: {
      /** An attempt to send an event. */
      delivery?: WebhookDelivery | undefined;
      /** An endpoint that gets the events of the tenant, without its secret. */
      webhook?: Webhook | undefined;
      /** After `only_failed`: how many events that were given up come again. */
      resent?: number | undefined;
      /** After `only_failed`: others stay given up, because no more events may be put aside. Ask again later. */
      more?: boolean | undefined;
    };
  };
  /** Events of the tenant, in order. */
  'GET /v1/events': {
    /** In the query. */
    query?: {
      /** The number of an event: only later ones. Left out: from the oldest event that is kept. */
      after?: string | undefined;
      /** Types of events, separated by commas. Left out: all. */
      types?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** How long to wait for an event if there is none: 0 to 20, 0 if it is left out. */
      waitSeconds?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The events, in order. */
      events: {
        /** The same wherever the event appears; webhooks have it as the header `webhook-id`. */
        id: string;
        /** Events of a tenant are numbered from 1, without a gap. */
        seq: bigint;
        /** What happened. */
        type: WebhookEventType;
        /** The version of the schema of this type. It rises by one when members or words are added. */
        schemaVersion: number;
        /** When it happened. */
        timestamp: Date;
        /** In webhooks only: so many events before this one were deleted before they could be delivered. */
        skipped?: bigint | undefined;
        /** What it happened to, as it was right after. Depends on the type: `webhooks` of this description has its schema. */
        data: Record<string, unknown>;
      }[];
      /** `after` of the next request. */
      after: bigint;
      /** There are more, or may be: ask again at once. */
      more: boolean;
    };
  };
  /** Report usage and have it charged. */
  'POST /v1/usage': {
    /** The body. */
    body: {
      /** The batch. An empty one asks for `admitted` alone. */
      records: {
        /** The same for the same participant and interval, on every retry; never used for another. */
        id: string;
        /** If given, the tenant of the key. */
        tenant?: string | undefined;
        /** The room, which the ledger shows. */
        room?: string | undefined;
        /** The participant, which the ledger shows. */
        participant?: string | undefined;
        /** What the participant is in the room: it decides the ceiling. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** The sum of all video received at once: it decides the ceiling. */
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        /** How long the participant was connected in the interval. */
        seconds: number;
        /** Bytes sent to the participant: they are charged. */
        egressBytes: number;
        /** Bytes received from the participant. */
        ingressBytes: number;
      }[];
    };
    /** The answer. */
    answer: {
      /** Records that were charged. */
      charged: number;
      /** Records whose id was known already: not charged. */
      duplicates: number;
      /** Records accepted and not charged: exempt tenants. */
      unbilled: number;
      /** What the batch cost. */
      total: Amount;
      /** False: admit no new sessions until it is true again. */
      admitted: boolean;
    };
  };
  /** Sums of usage over a period. */
  'GET /v1/usage/summary': {
    /** In the query. */
    query?: {
      /** Of `hour`, `day`, `month`, `room`, `role`, `tier`, `participant`, `key`, `customer`, separated by commas; one of the first three at most, and of the last three one alone, or with `day` or `month`. */
      groupBy?: string | undefined;
      /** Start of the period: a day of the time zone of the tenant, or a whole hour such as `2026-11-01T00:00:00Z`. */
      from?: string | undefined;
      /** End of the period; what happened at that time is not in it. */
      to?: string | undefined;
      /** Only this room; empty: only records without one. Not for sums of sessions. */
      room?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** Start of the period. */
      from: Date;
      /** End of the period. */
      to: Date;
      /** The groups. */
      rows: {
        /** Start of the hour. Only if grouped by hour. */
        hour?: Date | undefined;
        /** Start of the day in the time zone of the tenant. Only if grouped by day. */
        day?: Date | undefined;
        /** The month there, such as `2026-11`. Only if grouped by month. */
        month?: string | undefined;
        /** As reported; empty for records without one. Only if grouped by room. */
        room?: string | undefined;
        /** Only if grouped by role. */
        role?: 'host' | 'audience' | 'broadcast_audience' | undefined;
        /** Only if grouped by tier. */
        tier?: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus' | undefined;
        /** The username; `(erased)` after an erasure. Only if grouped by participant. */
        participant?: string | undefined;
        /** The id of the API key or device credential that admitted the participant first; empty if it is not known. Only if grouped by key. */
        key?: string | undefined;
        /** The label that the mint named; empty for sessions without one. Only if grouped by customer. */
        customer?: string | undefined;
        /** Records, charged and unbilled. */
        records: number;
        /** Seconds that participants were connected. */
        seconds: number;
        /** Bytes sent to participants. May exceed 64 bits. */
        egressBytes: bigint;
        /** Bytes received from participants. May exceed 64 bits. */
        ingressBytes: bigint;
        /** What was charged. */
        total: Amount;
        /** What would have been charged, while the tenant was exempt. */
        unbilled: Amount;
      }[];
      /** Of all groups and `unassigned`, on every page. */
      sum: UsageSums;
      /** Usage that belongs to no session, or is not assigned yet. Only for sums of sessions. */
      unassigned?: UsageSums | undefined;
      /** Usage that was charged before this time is assigned. Only for sums of sessions. */
      assignedUntil?: Date | undefined;
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Every usage record, as it was charged. */
  'GET /v1/usage/records': {
    /** In the query. */
    query?: {
      /** Only this room; empty: only records without one. */
      room?: string | undefined;
      /** Only this participant. */
      participant?: string | undefined;
      /** Only this role. */
      role?: 'host' | 'audience' | 'broadcast_audience' | undefined;
      /** Only this tier. */
      tier?: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus' | undefined;
      /** Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`. */
      from?: string | undefined;
      /** End of the period; what happened at that time is not in it. */
      to?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The records. */
      records: {
        /** As reported. */
        id: string;
        /** As reported. Absent: there was none. */
        room?: string | undefined;
        /** As reported. Absent: there was none. */
        participant?: string | undefined;
        /** As reported. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** As reported. */
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        /** As reported. */
        seconds: number;
        /** As reported. */
        egressBytes: bigint;
        /** As reported. */
        ingressBytes: bigint;
        /** What it cost; for an unbilled record, what it would have cost. */
        total: Amount;
        /** The ceiling limited the charge. */
        capped: boolean;
        /** The tenant was exempt, so it was not charged. */
        unbilled: boolean;
        /** When it was charged. */
        at: Date;
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Sessions of participants, and what they cost. */
  'GET /v1/sessions': {
    /** In the query. */
    query?: {
      /** Only rooms of this name. */
      room?: string | undefined;
      /** Only this participant, by the username. */
      participant?: string | undefined;
      /** Only those that this API key or device credential admitted, by its id. */
      key?: string | undefined;
      /** Only those with this label of the mint. */
      customer?: string | undefined;
      /** Only sessions that began at this time (UTC) or later: a day or a time. */
      from?: string | undefined;
      /** Only sessions that began before this time. */
      to?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The sessions. */
      sessions: {
        /** The id of the session. */
        id: string;
        /** The name of the room. */
        room: string;
        /** The incarnation of the room. */
        roomUid: string;
        /** The username; `(erased)` after an erasure. */
        participant: string;
        /** The last role. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** The API key or device credential that admitted the participant first. */
        keyId?: string | undefined;
        /** The label that the mint named, if it named one. */
        customer?: string | undefined;
        /** Thumbprints of the keys of its devices. */
        devices: string[];
        /** When the participant entered. */
        enteredAt: Date;
        /** When the participant left, or the last token expired. Absent: still in the room. */
        leftAt?: Date | undefined;
        /** Why the session ended. */
        leaveReason?: 'expired' | 'kicked' | 'banned' | 'ended' | 'watchdog' | undefined;
        /** Records, charged and unbilled. */
        records: number;
        /** Seconds that participants were connected. */
        seconds: number;
        /** Bytes sent to participants. May exceed 64 bits. */
        egressBytes: bigint;
        /** Bytes received from participants. May exceed 64 bits. */
        ingressBytes: bigint;
        /** What was charged. */
        total: Amount;
        /** What would have been charged, while the tenant was exempt. */
        unbilled: Amount;
        /** Seconds in each tier. */
        secondsByTier: {
          /** Seconds in this tier. */
          audio: number;
          /** Seconds in this tier. */
          hd: number;
          /** Seconds in this tier. */
          full_hd: number;
          /** Seconds in this tier. */
          '2k': number;
          /** Seconds in this tier. */
          '2k_plus': number;
        };
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** One session, with its newest records. */
  'GET /v1/sessions/{id}': {
    /** In the path. */
    path: {
      /** The id of the session. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** What one participant did in one room, from entering to leaving. */
      session: {
        /** The id of the session. */
        id: string;
        /** The name of the room. */
        room: string;
        /** The incarnation of the room. */
        roomUid: string;
        /** The username; `(erased)` after an erasure. */
        participant: string;
        /** The last role. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** The API key or device credential that admitted the participant first. */
        keyId?: string | undefined;
        /** The label that the mint named, if it named one. */
        customer?: string | undefined;
        /** Thumbprints of the keys of its devices. */
        devices: string[];
        /** When the participant entered. */
        enteredAt: Date;
        /** When the participant left, or the last token expired. Absent: still in the room. */
        leftAt?: Date | undefined;
        /** Why the session ended. */
        leaveReason?: 'expired' | 'kicked' | 'banned' | 'ended' | 'watchdog' | undefined;
        /** Records, charged and unbilled. */
        records: number;
        /** Seconds that participants were connected. */
        seconds: number;
        /** Bytes sent to participants. May exceed 64 bits. */
        egressBytes: bigint;
        /** Bytes received from participants. May exceed 64 bits. */
        ingressBytes: bigint;
        /** What was charged. */
        total: Amount;
        /** What would have been charged, while the tenant was exempt. */
        unbilled: Amount;
        /** Seconds in each tier. */
        secondsByTier: {
          /** Seconds in this tier. */
          audio: number;
          /** Seconds in this tier. */
          hd: number;
          /** Seconds in this tier. */
          full_hd: number;
          /** Seconds in this tier. */
          '2k': number;
          /** Seconds in this tier. */
          '2k_plus': number;
        };
      };
      /** Its newest records, as far as they are at hand: 20 at most. */
      records: {
        /** As reported. */
        id: string;
        /** As reported. Absent: there was none. */
        room?: string | undefined;
        /** As reported. Absent: there was none. */
        participant?: string | undefined;
        /** As reported. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** As reported. */
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        /** As reported. */
        seconds: number;
        /** As reported. */
        egressBytes: bigint;
        /** As reported. */
        ingressBytes: bigint;
        /** What it cost; for an unbilled record, what it would have cost. */
        total: Amount;
        /** The ceiling limited the charge. */
        capped: boolean;
        /** The tenant was exempt, so it was not charged. */
        unbilled: boolean;
        /** When it was charged. */
        at: Date;
      }[];
      /** The sums have every charge before this time. Later ones are added within seconds. */
      assignedUntil: Date;
    };
  };
  /** What a room cost. */
  'GET /v1/rooms/{uid}/cost': {
    /** In the path. */
    path: {
      /** The uid of the room. */
      uid: string;
    };
    /** The answer. */
    answer: {
      /** The name of the room. */
      room: string;
      /** The incarnation. */
      roomUid: string;
      /** When the room was created. */
      createdAt: Date;
      /** When the room ended. Absent: it is live. */
      endedAt?: Date | undefined;
      /** How many sessions it had. */
      sessions: number;
      /** The sums of its sessions. */
      assigned: {
        /** Records, charged and unbilled. */
        records: number;
        /** Seconds that participants were connected. */
        seconds: number;
        /** Bytes sent to participants. May exceed 64 bits. */
        egressBytes: bigint;
        /** Bytes received from participants. May exceed 64 bits. */
        ingressBytes: bigint;
        /** What was charged. */
        total: Amount;
        /** What would have been charged, while the tenant was exempt. */
        unbilled: Amount;
        /** Seconds in each tier. */
        secondsByTier: {
          /** Seconds in this tier. */
          audio: number;
          /** Seconds in this tier. */
          hd: number;
          /** Seconds in this tier. */
          full_hd: number;
          /** Seconds in this tier. */
          '2k': number;
          /** Seconds in this tier. */
          '2k_plus': number;
        };
      };
      /** Usage of the room that belongs to no session. */
      unassigned: {
        /** Records, charged and unbilled. */
        records: number;
        /** Seconds that participants were connected. */
        seconds: number;
        /** Bytes sent to participants. May exceed 64 bits. */
        egressBytes: bigint;
        /** Bytes received from participants. May exceed 64 bits. */
        ingressBytes: bigint;
        /** What was charged. */
        total: Amount;
        /** What would have been charged, while the tenant was exempt. */
        unbilled: Amount;
        /** Seconds in each tier. */
        secondsByTier: {
          /** Seconds in this tier. */
          audio: number;
          /** Seconds in this tier. */
          hd: number;
          /** Seconds in this tier. */
          full_hd: number;
          /** Seconds in this tier. */
          '2k': number;
          /** Seconds in this tier. */
          '2k_plus': number;
        };
      };
      /** The sums have every charge before this time. Later ones are added within seconds. */
      assignedUntil: Date;
    };
  };
  /** How the charge of a record came about. */
  'GET /v1/usage/{id}/explain': {
    /** In the path. */
    path: {
      /** The id of the record, percent-encoded. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** A usage record. */
      record: {
        /** As reported. */
        id: string;
        /** As reported. Absent: there was none. */
        room?: string | undefined;
        /** As reported. Absent: there was none. */
        participant?: string | undefined;
        /** As reported. */
        role: 'host' | 'audience' | 'broadcast_audience';
        /** As reported. */
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        /** As reported. */
        seconds: number;
        /** As reported. */
        egressBytes: bigint;
        /** As reported. */
        ingressBytes: bigint;
        /** What it cost; for an unbilled record, what it would have cost. */
        total: Amount;
        /** The ceiling limited the charge. */
        capped: boolean;
        /** The tenant was exempt, so it was not charged. */
        unbilled: boolean;
        /** When it was charged. */
        at: Date;
      };
      /** The calculation, step by step. */
      explanation: {
        /** `egress_bytes` in GiB, rounded to 12 decimals. */
        egressGib: string;
        /** Of the rate card. */
        platformFeePerGib: Amount;
        /** `egress_gib` times the platform fee, in micros. */
        fee: string;
        /** `seconds` in minutes, rounded to 12 decimals. */
        minutes: string;
        /** Of the rate card, for the role and the tier. */
        ceilingPer1000Minutes: Amount;
        /** A thousandth of it for every minute, in micros. */
        ceiling: string;
        /** The smaller of the two, which is the price. */
        limitedBy: 'fee' | 'ceiling';
        /** The price, in micros. */
        price: string;
        /** The fraction that earlier charges left over, in micros. */
        carryBefore: string;
        /** The fraction that is left for the next charge, in micros. */
        carryAfter: string;
        /** `carry`: price and carry before are cut to whole micros; `per_record`: the price is rounded half-up. */
        rounding: 'carry' | 'per_record';
        /** Version of the rate card. */
        rateCard: number;
        /** Version of the pricing rule. */
        rule: number;
      };
      /** The change of the balance that this record is part of. */
      posting: {
        /** Its number in the ledger. */
        seq: bigint;
        /** How many records were charged together. */
        records: number;
        /** By how much they changed the balance. */
        amount: Amount;
        /** When. */
        at: Date;
      };
    };
  };
  /** Which ids were charged. */
  'POST /v1/usage/lookup': {
    /** The body. */
    body: {
      /** Ids of records. */
      ids: string[];
    };
    /** The answer. */
    answer: {
      /** In the order of `ids`. */
      records: {
        /** As asked. */
        id: string;
        /** `unbilled`: accepted while the tenant was exempt; `unknown`: never accepted, so report it. */
        outcome: 'charged' | 'unbilled' | 'unknown';
        /** What it cost, or would have cost if it is unbilled. Absent: it is unknown. */
        total?: Amount | undefined;
        /** When it was charged. Absent: it is unknown. */
        at?: Date | undefined;
      }[];
    };
  };
  /** Ids that were reported again with other values. */
  'GET /v1/usage/conflicts': {
    /** In the query. */
    query?: {
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The conflicts. */
      conflicts: {
        /** The id of the record. */
        id: string;
        /** How often it was reported with other values. */
        times: number;
        /** When this happened first. */
        firstAt: Date;
        /** When this happened last. */
        lastAt: Date;
        /** The first report, which was charged. */
        charged: {
          /** As reported. Absent: there was none. */
          room?: string | undefined;
          /** As reported. Absent: there was none. */
          participant?: string | undefined;
          /** As reported. */
          role: string;
          /** As reported. */
          tier: string;
          /** As reported. */
          seconds: number;
          /** As reported. */
          egressBytes: bigint;
          /** As reported. */
          ingressBytes: bigint;
        };
        /** The latest of the others, which were not charged. */
        reported: {
          /** As reported. Absent: there was none. */
          room?: string | undefined;
          /** As reported. Absent: there was none. */
          participant?: string | undefined;
          /** As reported. */
          role: string;
          /** As reported. */
          tier: string;
          /** As reported. */
          seconds: number;
          /** As reported. */
          egressBytes: bigint;
          /** As reported. */
          ingressBytes: bigint;
        };
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Every entry of the ledger. */
  'GET /v1/ledger': {
    /** In the query. */
    query?: {
      /** Only these kinds, of `usage`, `top_up`, `auto_top_up`, `refund`, `dispute`, `adjustment`, `correction`, `grant`, `grant_expired`, `grant_voided`, separated by commas. */
      kind?: string | undefined;
      /** Only usage of this room; empty: only usage without one. */
      room?: string | undefined;
      /** Only usage of this participant. */
      participant?: string | undefined;
      /** Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`. */
      from?: string | undefined;
      /** End of the period; what happened at that time is not in it. */
      to?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The entries. */
      entries: {
        /** What changed the balance. */
        kind: LedgerKind;
        /** By how much the balance changed; charges are negative. */
        amount: Amount;
        /** The charge was limited by the ceiling. */
        capped: boolean;
        /** For usage, the room; for payments, the provider's id. */
        reference: string;
        /** For usage, the participant. */
        detail?: string | undefined;
        /** When the balance changed. */
        at: Date;
        /** For usage, the id of the record. */
        id?: string | undefined;
        /** For a payment, refund or dispute, the id of the payment. */
        payment?: string | undefined;
        /** The number of the posting in the ledger. Records that were charged together have one posting. */
        postingSeq: bigint;
        /** The balance after the posting. */
        balanceAfter: Amount;
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Who gets mail about the account. */
  'GET /v1/mail': {
    /** The answer. */
    answer: {
      /** Whether `email` gets mail. */
      signupAddress: boolean;
      /** The address given at signup. */
      email: string;
      /** Further addresses that get mail. */
      addresses: string[];
      /** Whether mails tell about what needs attention, such as a low balance. */
      alerts: boolean;
      /** Whether mails confirm payments. */
      receipts: boolean;
      /** Their owners want no alerts of this tenant. Only a link in an alert changes that. */
      unsubscribed: string[];
    };
  };
  /** Choose who gets mail about the account. */
  'PUT /v1/mail': {
    /** The body. */
    body: {
      /** Further addresses that get mail. */
      addresses: string[];
      /** Whether mails tell about what needs attention, such as a low balance. */
      alerts: boolean;
      /** Whether mails confirm payments. */
      receipts: boolean;
      /** Whether the address given at signup gets mail. */
      signupAddress?: boolean | undefined;
    };
    /** The answer. */
    answer: {
      /** Whether `email` gets mail. */
      signupAddress: boolean;
      /** The address given at signup. */
      email: string;
      /** Further addresses that get mail. */
      addresses: string[];
      /** Whether mails tell about what needs attention, such as a low balance. */
      alerts: boolean;
      /** Whether mails confirm payments. */
      receipts: boolean;
      /** Their owners want no alerts of this tenant. Only a link in an alert changes that. */
      unsubscribed: string[];
    };
  };
  /** Who changed what. */
  'GET /v1/audit': {
    /** In the query. */
    query?: {
      /** Only this action. */
      action?: string | undefined;
      /** Only changes of what has this id. */
      subject?: string | undefined;
      /** Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`. */
      from?: string | undefined;
      /** End of the period; what happened at that time is not in it. */
      to?: string | undefined;
      /** How many at once: at most 1000, 100 if it is left out. */
      limit?: string | undefined;
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    /** The answer. */
    answer: {
      /** The entries. */
      entries: {
        /** The id of the entry. */
        id: string;
        /** When it happened. */
        at: Date;
        /** Who made the change. */
        actor: {
          /** `key`: an API key; `member`: a person in the console; `operator`: of the deployment; `system`: the service itself. */
          kind: 'key' | 'member' | 'operator' | 'system';
          /** The id of the key, or the part of the service. Absent: an operator. */
          id?: string | undefined;
          /** From where the key was used, a member acted, or a log-in failed; `(erased)` after 400 days, or as many as the operator says. */
          address?: string | undefined;
        };
        /** What was done. */
        action: string;
        /** The id of what was changed. Absent: there is only one of it. */
        subject?: string | undefined;
        /** What changed, as it was. Absent: there was nothing. */
        before?: Record<string, unknown> | undefined;
        /** The same as it is now. Absent: there is nothing. */
        after?: Record<string, unknown> | undefined;
      }[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Erase the name of a person from everything that is stored. */
  'POST /v1/participants/erase': {
    /** The body. */
    body: {
      /** The name, as usage records and tokens have it. */
      participant: string;
    };
    /** The answer. */
    answer: {
      /** The erasure of a person. */
      erasure: {
        /** The id of the erasure. */
        id: string;
        /** `done`: nothing that is stored shows the name any more. */
        state: 'pending' | 'done';
        /** Usage records that have lost the name so far. */
        records: number;
        /** When it was asked for. */
        createdAt: Date;
        /** When it was done. Absent: it is pending. */
        finishedAt?: Date | undefined;
      };
    };
  };
  /** Look how far an erasure is. */
  'GET /v1/erasures/{id}': {
    /** In the path. */
    path: {
      /** The id of the erasure. */
      id: string;
    };
    /** The answer. */
    answer: {
      /** The erasure of a person. */
      erasure: {
        /** The id of the erasure. */
        id: string;
        /** `done`: nothing that is stored shows the name any more. */
        state: 'pending' | 'done';
        /** Usage records that have lost the name so far. */
        records: number;
        /** When it was asked for. */
        createdAt: Date;
        /** When it was done. Absent: it is pending. */
        finishedAt?: Date | undefined;
      };
    };
  };
  /** The months that have statements. */
  'GET /v1/statements': {
    /** The answer. */
    answer: {
      /** The months. */
      statements: {
        /** A month in the time zone of the tenant. */
        month: string;
        /** The balance at the start of the month. */
        opening: Amount;
        /** The balance at its end. */
        closing: Amount;
      }[];
    };
  };
  /** The statement of a month. */
  'GET /v1/statements/{month}': {
    /** In the path. */
    path: {
      /** A month in the time zone of the tenant, such as `2026-10`, that ended 15 minutes ago or earlier. */
      month: string;
    };
    /** In the query. */
    query?: {
      /** Also for a month that is not over, up to now and unsigned. */
      soFar?: 'true' | undefined;
    };
    /** The answer. */
    answer: {
      /** The statement. */
      statement: Statement;
      /** The statement, signed: a compact JWS of the type `statement+jwt`, to be verified with the keys of `/.well-known/statement-keys.json`. Absent: the month is not over. */
      jws?: string | undefined;
    };
  };
  /** The keys that signed statements are verified with. */
  'GET /.well-known/statement-keys.json': {
    /** The answer. */
    answer: {
      /** Every key whose signatures may be accepted. */
      keys: {
        /** Always `EC`. */
        kty: string;
        /** Always `P-256`. */
        crv: string;
        /** A coordinate of the point, in base64url. */
        x: string;
        /** The other one. */
        y: string;
        /** The id, which signed texts have in their header. */
        kid: string;
        /** Always `ES256`. */
        alg: string;
        /** Always `sig`. */
        use: string;
      }[];
    };
  };
}

/** Names on the wire, and here. */
export const NAMES = {
  alert_percents: 'alertPercents',
  amount_cents: 'amountCents',
  api_key: 'apiKey',
  assigned_until: 'assignedUntil',
  auto_top_up: 'autoTopUp',
  balance_after: 'balanceAfter',
  basic_auth: 'basicAuth',
  batch_id: 'batchId',
  below_cents: 'belowCents',
  below_hours: 'belowHours',
  below_micros: 'belowMicros',
  carry_after: 'carryAfter',
  carry_before: 'carryBefore',
  ceiling_per_1000_minutes: 'ceilingPer1000Minutes',
  ceiling_per_1000_participant_minutes: 'ceilingPer1000ParticipantMinutes',
  checkout_url: 'checkoutUrl',
  created_at: 'createdAt',
  dead_letters: 'deadLetters',
  delivered_seq: 'deliveredSeq',
  egress_bytes: 'egressBytes',
  egress_cost_per_gib: 'egressCostPerGib',
  egress_gib: 'egressGib',
  empty_at: 'emptyAt',
  ended_at: 'endedAt',
  entered_at: 'enteredAt',
  event_id: 'eventId',
  expires_at: 'expiresAt',
  finished_at: 'finishedAt',
  first_at: 'firstAt',
  gave_up: 'gaveUp',
  given_up: 'givenUp',
  given_up_at: 'givenUpAt',
  granted_at: 'grantedAt',
  group_by: 'groupBy',
  happened_at: 'happenedAt',
  has_basic_auth: 'hasBasicAuth',
  has_card: 'hasCard',
  header_names: 'headerNames',
  ingress_bytes: 'ingressBytes',
  interval_seconds: 'intervalSeconds',
  invoice_url: 'invoiceUrl',
  issuer_details: 'issuerDetails',
  key_id: 'keyId',
  last_at: 'lastAt',
  last_top_up_error: 'lastTopUpError',
  latency_ms: 'latencyMs',
  leave_reason: 'leaveReason',
  left_at: 'leftAt',
  limit_micros: 'limitMicros',
  limited_by: 'limitedBy',
  markup_basis_points: 'markupBasisPoints',
  max_batch: 'maxBatch',
  max_in_flight: 'maxInFlight',
  max_per_second: 'maxPerSecond',
  next_cursor: 'nextCursor',
  next_from: 'nextFrom',
  next_time_zone: 'nextTimeZone',
  old_key_retires: 'oldKeyRetires',
  old_secret_retires: 'oldSecretRetires',
  only_failed: 'onlyFailed',
  overlap_seconds: 'overlapSeconds',
  paused_at: 'pausedAt',
  paused_by: 'pausedBy',
  per_hour: 'perHour',
  period_started_at: 'periodStartedAt',
  platform_fee_per_gib: 'platformFeePerGib',
  portal_url: 'portalUrl',
  posting_seq: 'postingSeq',
  public_key: 'publicKey',
  public_keys: 'publicKeys',
  raised_at: 'raisedAt',
  rate_card: 'rateCard',
  rate_version: 'rateVersion',
  retires_at: 'retiresAt',
  retry_at: 'retryAt',
  revoked_at: 'revokedAt',
  room_uid: 'roomUid',
  rule_version: 'ruleVersion',
  runway_hours: 'runwayHours',
  schema_version: 'schemaVersion',
  seconds_by_tier: 'secondsByTier',
  sent_from: 'sentFrom',
  signup_address: 'signupAddress',
  so_far: 'soFar',
  tax_id: 'taxId',
  time_zone: 'timeZone',
  wait_seconds: 'waitSeconds',
  waiting_retry_at: 'waitingRetryAt',
} as const;

/** What is a time in answers, by its name on the wire. */
export const TIMES: ReadonlySet<string> = new Set([
  'assigned_until',
  'at',
  'created_at',
  'day',
  'empty_at',
  'ended_at',
  'entered_at',
  'expires_at',
  'finished_at',
  'first_at',
  'from',
  'given_up_at',
  'granted_at',
  'happened_at',
  'hour',
  'last_at',
  'left_at',
  'next_from',
  'old_key_retires',
  'old_secret_retires',
  'paused_at',
  'period_started_at',
  'raised_at',
  'retires_at',
  'retry_at',
  'revoked_at',
  'timestamp',
  'to',
  'waiting_retry_at',
]);

/** What is an integer of 64 bits or more in answers, by its name on the wire. */
export const INTEGERS: ReadonlySet<string> = new Set([
  'after',
  'below_micros',
  'delivered_seq',
  'egress_bytes',
  'ingress_bytes',
  'limit_micros',
  'micros',
  'posting_seq',
  'seq',
  'skipped',
]);

/** What is an object of any members in answers, which keep their names and values. */
export const AS_IS: ReadonlySet<string> = new Set(['after', 'before', 'data']);
