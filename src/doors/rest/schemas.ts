/**
 * The resources on the wire, and their renderers.
 *
 * Source: specification 2. Schemas validate requests, serialize answers (a field that a schema
 * does not name is never sent), and generate the OpenAPI description.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { DeviceCredential } from '../../access/devices/device-credential.ts';
import { type ApiKey, KEY_KINDS, KEY_NAME_LENGTH_MAX, type KeyLife } from '../../access/keys/api-key.ts';
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../../access/keys/rotation-overlap.ts';
import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import { renderTenantId, TENANT_STATUSES, type Tenant } from '../../base/tenants/tenant.ts';
import { renderAmount } from '../../money/amount.ts';
import { ENTRY_KINDS, type LedgerEntry } from '../../money/ledger/posting.ts';
import { describeTopUpError, type PaymentSettings } from '../../money/payments/payment-settings.ts';
import { MODEL, type RateCard } from '../../money/pricing/rate-card.ts';
import { ROLES, TIERS, type Tier } from '../../money/pricing/role.ts';

/** One of the given words. */
export function words<const T extends readonly string[]>(
  values: T,
  options: { default?: T[number]; description?: string } = {},
) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 UTC, with milliseconds' });

export const AmountSchema = Type.Object({
  micros: Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description: 'Millionths of a US dollar' }),
  display: Type.String({ pattern: '^-?\\$[0-9]+\\.[0-9]{6}$' }),
});

export const TenantSchema = Type.Object({
  id: Type.String({ pattern: '^t_[0-9a-f]{16}$' }),
  name: Type.String(),
  email: Type.String(),
  status: words(TENANT_STATUSES),
  has_card: Type.Boolean({ description: 'A saved payment method exists' }),
  auto_top_up: Type.Object({ enabled: Type.Boolean(), below: AmountSchema, amount: AmountSchema }),
  last_top_up_error: Type.Optional(
    Type.String({
      description: 'Only when the last automatic top-up failed, or when something stops automatic top-ups',
    }),
  ),
  created_at: Timestamp,
});

export function renderTenant(tenant: Tenant, settings: PaymentSettings): Static<typeof TenantSchema> {
  const topUpError = describeTopUpError(settings);
  return {
    id: renderTenantId(tenant.id),
    name: tenant.name,
    email: tenant.email,
    status: tenant.status,
    has_card: settings.paymentMethodId !== null,
    auto_top_up: {
      enabled: settings.topUpEnabled,
      below: renderAmount(settings.topUpBelow),
      amount: renderAmount(settings.topUpAmount),
    },
    ...(topUpError === null ? {} : { last_top_up_error: topUpError }),
    created_at: tenant.createdAt.toISOString(),
  };
}

export const LedgerEntrySchema = Type.Object({
  kind: words(ENTRY_KINDS),
  amount: AmountSchema,
  capped: Type.Boolean({ description: 'The charge was limited by the ceiling' }),
  reference: Type.String({ description: 'For usage, the room' }),
  detail: Type.Optional(Type.String({ description: 'For usage, the participant' })),
  at: Timestamp,
});

export function renderLedgerEntry(entry: LedgerEntry): Static<typeof LedgerEntrySchema> {
  return {
    kind: entry.kind,
    amount: renderAmount(entry.amount),
    capped: entry.capped,
    reference: entry.reference ?? '',
    ...(entry.detail === null ? {} : { detail: entry.detail }),
    at: entry.at.toISOString(),
  };
}

/** `:id` of a key or of a device credential. */
export const IdSchema = Type.Object({ id: Type.String() });

export const PlaintextSchema = Type.String({ description: 'The plaintext, shown once' });

const keyLife = {
  created_at: Timestamp,
  retires_at: Type.Optional(Timestamp),
  revoked_at: Type.Optional(Timestamp),
};

function renderKeyLife({ createdAt, retiresAt, revokedAt }: KeyLife) {
  return {
    created_at: createdAt.toISOString(),
    ...(retiresAt ? { retires_at: retiresAt.toISOString() } : {}),
    ...(revokedAt ? { revoked_at: revokedAt.toISOString() } : {}),
  };
}

export const ApiKeySchema = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{16}$' }),
  name: Type.String(),
  kind: words(KEY_KINDS),
  ...keyLife,
});

export function renderApiKey(key: ApiKey): Static<typeof ApiKeySchema> {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    ...renderKeyLife(key),
  };
}

export const DeviceCredentialSchema = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{16}$' }),
  name: Type.String(),
  publish: Type.Array(words(PUBLISH_RIGHTS)),
  rooms: Type.Optional(Type.Array(Type.String(), { description: 'Absent: every room' })),
  default_room: Type.Optional(Type.String()),
  expires_at: Type.Optional(Timestamp),
  ...keyLife,
});

export function renderDeviceCredential(credential: DeviceCredential): Static<typeof DeviceCredentialSchema> {
  return {
    id: credential.id,
    name: credential.name,
    publish: [...credential.publish],
    ...(credential.rooms ? { rooms: [...credential.rooms] } : {}),
    ...(credential.defaultRoom === null ? {} : { default_room: credential.defaultRoom }),
    ...(credential.expiresAt ? { expires_at: credential.expiresAt.toISOString() } : {}),
    ...renderKeyLife(credential),
  };
}

/** An object with a member of the same schema for each of these names. */
function each<const T extends readonly string[], S extends TSchema>(names: T, schema: S) {
  return Type.Object(Object.fromEntries(names.map((name) => [name, schema])) as Record<T[number], S>);
}

export const RateCardSchema = Type.Object({
  currency: Type.String(),
  model: Type.String(),
  egress_cost_per_gib: AmountSchema,
  markup_basis_points: Type.Integer(),
  platform_fee_per_gib: AmountSchema,
  ceiling_per_1000_participant_minutes: each(ROLES, each(TIERS, AmountSchema)),
});

export function renderRateCard(card: RateCard): Static<typeof RateCardSchema> {
  const ceilings = card.ceilingPer1000Minutes;
  return {
    currency: card.currency,
    model: MODEL,
    egress_cost_per_gib: renderAmount(card.egressCostPerGib),
    markup_basis_points: card.markupBasisPoints,
    platform_fee_per_gib: renderAmount(card.platformFeePerGib),
    ceiling_per_1000_participant_minutes: {
      host: renderTiers(ceilings.host),
      audience: renderTiers(ceilings.audience),
      broadcast_audience: renderTiers(ceilings.broadcast_audience),
    },
  };
}

function renderTiers(tiers: Readonly<Record<Tier, bigint>>) {
  return {
    audio: renderAmount(tiers.audio),
    hd: renderAmount(tiers.hd),
    full_hd: renderAmount(tiers.full_hd),
    '2k': renderAmount(tiers['2k']),
    '2k_plus': renderAmount(tiers['2k_plus']),
  };
}

const ErrorSchema = Type.Object({
  error: Type.String(),
  code: Type.Optional(Type.String()),
});

/** Request bodies list all their fields. Any other field is the caller's mistake. */
export function body<T extends Record<string, TSchema>>(fields: T) {
  return Type.Object(fields, { additionalProperties: false });
}

/** The name of a new key or device credential. */
export const KeyNameSchema = Type.String({ minLength: 1, maxLength: KEY_NAME_LENGTH_MAX });

/** The body that rotates a key or a device credential. */
export const RotationSchema = body({
  overlap_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: OVERLAP_SECONDS_MAX, default: OVERLAP_SECONDS_DEFAULT }),
  ),
});

/** The answers of a route: its own, and the errors that it can return. */
export function answers<T extends Record<number, TSchema>>(own: T, ...errors: number[]) {
  // A route with a body refuses one that stops arriving, and a route with a key limits its tenant.
  const all = new Set([
    ...errors,
    ...(errors.includes(400) ? [408] : []),
    ...(errors.includes(401) ? [429, 503] : []),
  ]);
  return { ...own, ...Object.fromEntries([...all].map((status) => [status, ErrorSchema])) } as T;
}
