/**
 * Whether a provider event has the fields that we read, in the types that we read them as.
 *
 * An endpoint may be configured for another version of the provider's API, whose events have other
 * shapes. Such an event can never be applied, so it is parked, and not answered with an error for ever.
 */
import { faultFinder, type TSchema, Type } from '../../base/lib/schema.ts';

/** What we read of every event. Without an id there is nothing to park. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
}

const ID = /^[!-~]{1,255}$/;

const Id = Type.String({ pattern: ID.source });
const Text = Type.String({ pattern: '^[^\\u0000]{0,500}$' });
const Nullable = (schema: TSchema) => Type.Optional(Type.Union([schema, Type.Null()]));
const Reference = Nullable(Type.Union([Id, Type.Object({ id: Id })]));
const Metadata = Type.Object({}, { additionalProperties: Text });

const Session = Type.Object({
  id: Id,
  metadata: Nullable(Metadata),
  payment_status: Nullable(Text),
  payment_intent: Reference,
});
const Code = Nullable(Text);
const LastPaymentError = Type.Object({
  code: Code,
  decline_code: Code,
  advice_code: Code,
  network_advice_code: Code,
});
const Payment = Type.Object({
  id: Id,
  status: Text,
  metadata: Metadata,
  last_payment_error: Nullable(LastPaymentError),
});
const Method = Type.Object({ id: Id, card: Nullable(Type.Object({ fingerprint: Nullable(Id) })) });
/** Fetched from the provider by its id, and read from there. */
const Named = Type.Object({ id: Id });

/** By the beginning of the type. Events of other types are not read. */
const SHAPES = Object.entries({
  'checkout.session.': Session,
  'payment_intent.': Payment,
  'refund.': Named,
  'charge.dispute.': Named,
  'radar.early_fraud_warning.': Named,
  'payment_method.': Method,
  'customer.deleted': Named,
}).map(([prefix, schema]) => ({ prefix, findFault: faultFinder(schema) }));

/** `undefined`: this is no event at all. A type that cannot be read is an empty one. */
export function readEnvelope(value: unknown): Envelope | undefined {
  const { id, type } = (value ?? {}) as Partial<Record<keyof Envelope, unknown>>;
  if (typeof id !== 'string' || !ID.test(id)) return undefined;
  return { id, type: typeof type === 'string' && ID.test(type) ? type : '' };
}

/** What is wrong with the object of an event; `undefined` if it can be read, or is not read at all. */
export function findShapeFault(event: unknown): string | undefined {
  const { type, data } = event as { type?: unknown; data?: { object?: unknown } | null };
  if (typeof type !== 'string') return 'it has no type';
  const known = SHAPES.find(({ prefix }) => type.startsWith(prefix));
  const object = data?.object;
  const fault = known?.findFault(object);
  return fault && `data/object${fault.path} ${fault.message}`;
}
