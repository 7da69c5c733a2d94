/** The REST interface. Made by scripts/make-rest-types.ts; not to be edited. */

/** An amount of money. */
export interface Amount {
  /** Millionths of a US dollar. */
  micros: bigint;
  /** The same for people, such as `-$0.000009`. */
  display: string;
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
  kind: 'usage' | 'top_up' | 'auto_top_up' | 'refund' | 'dispute' | 'adjustment';
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
  /** Fee for a GiB of egress, whoever hosts the relay. */
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

/** What each operation takes and gives. */
export interface Operations {
  /** The rate card in effect. */
  'GET /v1/rates': {
    /** The answer. */
    answer: RateCard;
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
  /** All payments that were credited. */
  'GET /v1/payments': {
    /** In the query. */
    query?: {
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
}

/** Names on the wire, and here. */
export const NAMES = {
  amount_cents: 'amountCents',
  api_key: 'apiKey',
  auto_top_up: 'autoTopUp',
  below_cents: 'belowCents',
  ceiling_per_1000_participant_minutes: 'ceilingPer1000ParticipantMinutes',
  checkout_url: 'checkoutUrl',
  created_at: 'createdAt',
  egress_bytes: 'egressBytes',
  egress_cost_per_gib: 'egressCostPerGib',
  has_card: 'hasCard',
  ingress_bytes: 'ingressBytes',
  invoice_url: 'invoiceUrl',
  key_id: 'keyId',
  last_top_up_error: 'lastTopUpError',
  markup_basis_points: 'markupBasisPoints',
  next_cursor: 'nextCursor',
  old_key_retires: 'oldKeyRetires',
  overlap_seconds: 'overlapSeconds',
  platform_fee_per_gib: 'platformFeePerGib',
  portal_url: 'portalUrl',
  retires_at: 'retiresAt',
  revoked_at: 'revokedAt',
} as const;

/** What is a time in answers, by its name on the wire. */
export const TIMES: ReadonlySet<string> = new Set([
  'at',
  'created_at',
  'old_key_retires',
  'retires_at',
  'revoked_at',
]);

/** What is an integer of 64 bits in answers, by its name on the wire. */
export const INTEGERS: ReadonlySet<string> = new Set(['micros']);
