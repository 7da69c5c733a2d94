/** The REST interface. Made by scripts/make-rest-types.ts; not to be edited. */

export interface Amount {
  /** Millionths of a US dollar. */
  micros: bigint;
  display: string;
}

export interface Tenant {
  id: string;
  name: string;
  email: string;
  status: 'pending' | 'active' | 'suspended' | 'archived' | 'deleted';
  /** A saved payment method exists. */
  hasCard: boolean;
  autoTopUp: {
    enabled: boolean;
    below: Amount;
    amount: Amount;
  };
  /** Only when the last automatic top-up failed, or when something stops automatic top-ups. */
  lastTopUpError?: string | undefined;
  /** ISO 8601 UTC, with milliseconds. */
  createdAt: Date;
}

export interface LedgerEntry {
  kind: 'usage' | 'top_up' | 'auto_top_up' | 'refund' | 'dispute' | 'adjustment';
  amount: Amount;
  /** The charge was limited by the ceiling. */
  capped: boolean;
  /** For usage, the room. */
  reference: string;
  /** For usage, the participant. */
  detail?: string | undefined;
  /** ISO 8601 UTC, with milliseconds. */
  at: Date;
}

export interface ApiKey {
  id: string;
  name: string;
  kind: 'backend' | 'relay';
  /** ISO 8601 UTC, with milliseconds. */
  createdAt: Date;
  /** ISO 8601 UTC, with milliseconds. */
  retiresAt?: Date | undefined;
  /** ISO 8601 UTC, with milliseconds. */
  revokedAt?: Date | undefined;
}

export interface RateCard {
  currency: string;
  model: string;
  egressCostPerGib: Amount;
  markupBasisPoints: number;
  platformFeePerGib: Amount;
  ceilingPer1000ParticipantMinutes: {
    host: {
      audio: Amount;
      hd: Amount;
      full_hd: Amount;
      '2k': Amount;
      '2k_plus': Amount;
    };
    audience: {
      audio: Amount;
      hd: Amount;
      full_hd: Amount;
      '2k': Amount;
      '2k_plus': Amount;
    };
    broadcast_audience: {
      audio: Amount;
      hd: Amount;
      full_hd: Amount;
      '2k': Amount;
      '2k_plus': Amount;
    };
  };
}

/** What each operation takes and gives. */
export interface Operations {
  /** The rate card in effect. */
  'GET /v1/rates': {
    answer: RateCard;
  };
  /** The tenant, its balance and its newest ledger entries. */
  'GET /v1/billing': {
    answer: {
      tenant: Tenant;
      balance: Amount;
      /** New sessions and tokens are admitted. */
      admitted: boolean;
      recent: LedgerEntry[];
    };
  };
  /** Open a page on which credit is paid for. */
  'POST /v1/billing/checkout': {
    body: {
      amountCents: number;
    };
    answer: {
      checkoutUrl: string;
    };
  };
  /** Open the portal for receipts and saved cards. */
  'POST /v1/billing/portal': {
    answer: {
      portalUrl: string;
    };
  };
  /** Charge the saved card whenever the balance falls below a threshold. */
  'PUT /v1/billing/auto-top-up': {
    body: {
      enabled: boolean;
      belowCents?: number | undefined;
      amountCents?: number | undefined;
    };
    answer: Tenant;
  };
  /** All keys, revoked ones too. */
  'GET /v1/keys': {
    query?: {
      /** `next_cursor` of the page before; left out: the first page. */
      cursor?: string | undefined;
    };
    answer: {
      keys: ApiKey[];
      /** Only if there are more: `cursor` of the request for the next page. */
      nextCursor?: string | undefined;
    };
  };
  /** Create a key. */
  'POST /v1/keys': {
    body: {
      name: string;
      kind?: 'backend' | 'relay' | undefined;
    };
    answer: {
      key: ApiKey;
      /** The plaintext, shown once. */
      apiKey: string;
    };
  };
  /** Revoke a key at once. */
  'DELETE /v1/keys/{id}': {
    path: { id: string };
    query?: {
      /** `stop-service`: also the last working key of its kind. */
      confirm?: string | undefined;
    };
    answer: undefined;
  };
  /** Replace a key; the old one works on for the overlap. */
  'POST /v1/keys/{id}/rotate': {
    path: { id: string };
    body: {
      overlapSeconds?: number | undefined;
    };
    answer: {
      key: ApiKey;
      /** The plaintext, shown once. */
      apiKey: string;
      oldKeyRetires: Date;
    };
  };
  /** Report usage and have it charged. */
  'POST /v1/usage': {
    body: {
      records: {
        /** The same for the same participant and interval, on every retry; never used for another. */
        id: string;
        /** If given, the tenant of the key. */
        tenant?: string | undefined;
        room?: string | undefined;
        participant?: string | undefined;
        role: 'host' | 'audience' | 'broadcast_audience';
        tier: 'audio' | 'hd' | 'full_hd' | '2k' | '2k_plus';
        seconds: number;
        egressBytes: number;
        ingressBytes: number;
      }[];
    };
    answer: {
      charged: number;
      duplicates: number;
      unbilled: number;
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
