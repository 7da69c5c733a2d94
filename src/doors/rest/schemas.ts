/**
 * The resources on the wire, and their renderers.
 *
 * Source: specification 2. Schemas validate requests, serialize answers (a field that a schema
 * does not name is never sent), and generate the OpenAPI description.
 */

import type { DeviceCredential } from '../../access/devices/device-credential.ts';
import type { DeviceCredentialSchema } from '../../access/devices/device-credential-schema.ts';
import { type ApiKey, KEY_NAME_LENGTH_MAX, type KeyLife } from '../../access/keys/api-key.ts';
import type { ApiKeySchema } from '../../access/keys/key-schema.ts';
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../../access/keys/rotation-overlap.ts';
import { described, type Static, type TSchema, Type, time, words } from '../../base/lib/schema.ts';
import { renderTenantId, TENANT_STATUSES, type Tenant } from '../../base/tenants/tenant.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { ENTRY_KINDS, type LedgerEntry } from '../../money/ledger/posting.ts';
import { type ListedPayment, PAYMENT_KINDS } from '../../money/payments/payment.ts';
import { describeTopUpError, type PaymentSettings } from '../../money/payments/payment-settings.ts';
import { exactMicros } from '../../money/pricing/exact-micros.ts';
import { MODEL, type RateCard } from '../../money/pricing/rate-card.ts';
import { ROLES, TIERS, type Tier } from '../../money/pricing/role.ts';
import { PRICE_DENOMINATOR } from '../../money/pricing/usage-price.ts';

export const ExactSchema = Type.Object(
  {
    decimal: Type.String({
      pattern: '^[0-9]+\\.[0-9]{6,13}$',
      description: 'In micros, rounded to 13 decimals: `558.7935447692871`',
    }),
    numerator: Type.String({
      pattern: '^[0-9]+$',
      description: 'Exact: `numerator` / `denominator` micros. An integer of any length',
    }),
    denominator: Type.String({ pattern: '^[0-9]+$', description: 'The same for all exact amounts' }),
  },
  { description: 'An exact amount of money' },
);

/** `numerator`: over PRICE_DENOMINATOR. */
export function renderExact(numerator: bigint): Static<typeof ExactSchema> {
  const { decimal } = exactMicros(numerator);
  return { decimal, numerator: `${numerator}`, denominator: `${PRICE_DENOMINATOR}` };
}

export const TenantSchema = Type.Object(
  {
    id: Type.String({ pattern: '^t_[0-9a-f]{16}$', description: 'The id of the tenant' }),
    name: Type.String({ description: 'As given at signup' }),
    email: Type.String({ description: 'As given at signup' }),
    status: words(TENANT_STATUSES, {
      description: '`pending` until the first payment; only `active` tenants admit sessions',
    }),
    has_card: Type.Boolean({ description: 'A saved payment method exists' }),
    auto_top_up: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Whether the saved card is charged automatically' }),
        below: described(AmountSchema, 'The balance below which it is charged'),
        amount: described(AmountSchema, 'What it is charged'),
      },
      { description: 'The rule of automatic top-ups' },
    ),
    last_top_up_error: Type.Optional(
      Type.String({
        description: 'What stops automatic top-ups, or why the last one failed. Absent: neither',
      }),
    ),
    created_at: time('When the tenant signed up'),
  },
  { description: 'A customer of the platform, with its settings for payments' },
);

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

export const LedgerEntrySchema = Type.Object(
  {
    kind: words(ENTRY_KINDS, { description: 'What changed the balance' }),
    amount: described(AmountSchema, 'By how much the balance changed; charges are negative'),
    capped: Type.Boolean({ description: 'The charge was limited by the ceiling' }),
    reference: Type.String({ description: "For usage, the room; for payments, the provider's id" }),
    detail: Type.Optional(Type.String({ description: 'For usage, the participant' })),
    at: time('When the balance changed'),
  },
  { description: 'One change of the balance' },
);

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

export const PaymentSchema = Type.Object(
  {
    id: Type.String({ description: "The provider's id, which the ledger entries of the payment name" }),
    kind: words(PAYMENT_KINDS, { description: '`top_up`: by checkout; `auto_top_up`: from the saved card' }),
    amount: described(AmountSchema, 'The credit that was paid for, without tax'),
    tax: Type.Optional(described(AmountSchema, 'What was paid on top of it as tax. Absent: nothing')),
    reversed: described(AmountSchema, 'How much of the credit refunds and disputes have taken back'),
    at: time('When it was credited'),
  },
  { description: 'A payment that was credited' },
);

export function renderPayment(payment: ListedPayment): Static<typeof PaymentSchema> {
  return {
    id: payment.id,
    kind: payment.kind,
    amount: renderAmount(payment.credited),
    ...(payment.tax === 0n ? {} : { tax: renderAmount(payment.tax) }),
    reversed: renderAmount(payment.reversed),
    at: payment.settledAt.toISOString(),
  };
}

/** `:id` of a key or of a device credential. */
export const IdSchema = Type.Object({ id: Type.String({ description: 'The id of the key or credential' }) });

export const PlaintextSchema = Type.String({ description: 'The plaintext, shown once' });

function renderKeyLife({ createdAt, retiresAt, revokedAt }: KeyLife) {
  return {
    created_at: createdAt.toISOString(),
    ...(retiresAt ? { retires_at: retiresAt.toISOString() } : {}),
    ...(revokedAt ? { revoked_at: revokedAt.toISOString() } : {}),
  };
}

export function renderApiKey(key: ApiKey): Static<typeof ApiKeySchema> {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    ...renderKeyLife(key),
  };
}

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
function each<const T extends readonly string[], S extends TSchema>(
  names: T,
  schema: (name: T[number]) => S,
  description: string,
) {
  const members = Object.fromEntries(names.map((name) => [name, schema(name as T[number])]));
  return Type.Object(members as Record<T[number], S>, { description });
}

export const RateCardSchema = Type.Object(
  {
    currency: Type.String({ description: 'In lower case: `usd`' }),
    model: Type.String({ description: 'How a charge comes about, in words' }),
    egress_cost_per_gib: described(AmountSchema, "What a GiB of a hosted relay's egress costs the platform"),
    markup_basis_points: Type.Integer({ description: 'Markup on that cost; 1500 is 15 %' }),
    platform_fee_per_gib: described(
      AmountSchema,
      'Fee for a GiB of egress, whether or not the tenant hosts the relay',
    ),
    ceiling_per_1000_participant_minutes: each(
      ROLES,
      (role) =>
        each(
          TIERS,
          (tier) => described(AmountSchema, `The most that ${role} pays at ${tier}`),
          `Ceilings of ${role}, by tier`,
        ),
      'The most that 1000 minutes of one participant cost, by role and tier',
    ),
  },
  { description: 'The prices in effect' },
);

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

/** Request bodies list all their fields. Any other field is the caller's mistake. */
export function strictObject<T extends Record<string, TSchema>>(fields: T) {
  return Type.Object(fields, { additionalProperties: false });
}

/** The name of a new key or device credential. */
export const KeyNameSchema = Type.String({
  minLength: 1,
  maxLength: KEY_NAME_LENGTH_MAX,
  description: 'For your own lists: where it is used',
});

/** The body that rotates a key or a device credential. */
export const RotationSchema = strictObject({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_SECONDS_MAX,
      default: OVERLAP_SECONDS_DEFAULT,
      description: 'How long the old one still works; by default a day, at most a week',
    }),
  ),
});
