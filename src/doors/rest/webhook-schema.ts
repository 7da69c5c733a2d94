/** Webhooks and their deliveries on the wire. */
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../../access/keys/rotation-overlap.ts';
import { ROOM_BEGINNING_PATTERN } from '../../access/rights/room-names.ts';
import { type Static, Type, time, words } from '../../base/lib/schema.ts';
import { PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE } from '../../outward/events/event-catalogue.ts';
import { eventSeq } from '../../outward/events/event-schema.ts';
import {
  DEAD_LETTERS_COUNTED_MAX,
  DEATHS,
  type DeadLetter,
  deathOf,
} from '../../outward/webhooks/dead-letter.ts';
import {
  DELIVERY_KINDS,
  type Delivery,
  isDelivered,
  renderDeliveryId,
} from '../../outward/webhooks/delivery.ts';
import {
  BASIC_AUTH_LENGTH_MAX,
  OWN_HEADER_NAME_LENGTH_MAX,
  OWN_HEADER_VALUE_LENGTH_MAX,
  OWN_HEADERS_MAX,
} from '../../outward/webhooks/own-headers.ts';
import type { GivenHeaders } from '../../outward/webhooks/set-own-headers.ts';
import {
  BATCH_MAX,
  IN_FLIGHT_MAX,
  PAUSERS,
  PER_SECOND_MAX,
  WAITING_MAX,
  WEBHOOK_DEFAULTS,
  WEBHOOK_DESCRIPTION_LENGTH_MAX,
  WEBHOOK_FORMATS,
  WEBHOOK_ORDERS,
  WEBHOOK_ROOMS_MAX,
  type Webhook,
  type WebhookSettings,
} from '../../outward/webhooks/webhook.ts';
import { strictObject } from './schemas.ts';

export const WebhookIdSchema = Type.Object({
  id: Type.String({
    description: 'The id of the webhook',
    examples: ['wh_9f0c3a5d7e1b24688642b1e7d5a3c0f9'],
  }),
});

const url = Type.String({
  minLength: 1,
  description:
    'Where events go: an `https` URL of the public internet, without user name, password and fragment, of at most ' +
    '2048 characters',
  examples: ['https://app.example.com/hooks/boxoffice'],
});
const types = Type.Array(words(PUBLIC_EVENT_TYPES), {
  uniqueItems: true,
  description: 'Which types of events it gets. Empty: all',
  examples: [['balance_low', 'top_up_failed']],
});
const rooms = Type.Array(Type.String({ pattern: ROOM_BEGINNING_PATTERN }), {
  maxItems: WEBHOOK_ROOMS_MAX,
  uniqueItems: true,
  description:
    'Names of rooms, or beginnings of names before a `*`. It gets only events of these rooms then. Empty: all events, also ' +
    'those that concern no room',
  examples: [['demo-*']],
});
const description = Type.String({
  maxLength: WEBHOOK_DESCRIPTION_LENGTH_MAX,
  description: 'For your own lists',
  examples: ['the billing back end'],
});

export const OwnHeaderSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: OWN_HEADER_NAME_LENGTH_MAX,
      description: 'The name of the header',
      examples: ['x-api-key'],
    }),
    value: Type.String({
      minLength: 1,
      maxLength: OWN_HEADER_VALUE_LENGTH_MAX,
      description: 'Its value: printable ASCII',
    }),
  },
  { additionalProperties: false, description: 'A header that each request of a webhook has' },
);

export const BasicAuthSchema = Type.Object(
  {
    username: Type.String({ maxLength: BASIC_AUTH_LENGTH_MAX, description: 'Without a colon' }),
    password: Type.String({ maxLength: BASIC_AUTH_LENGTH_MAX, description: 'May be empty' }),
  },
  { additionalProperties: false, description: 'Basic authentication of each request of a webhook' },
);

/** `otherwise`: what holds if they are left out, where that is not said by "none". */
function ownHeaders(otherwise = '') {
  const description = `Basic authentication of each request. No later answer has it. Both empty: none${otherwise}`;
  return {
    headers: Type.Optional(
      Type.Array(OwnHeaderSchema, {
        maxItems: OWN_HEADERS_MAX,
        description:
          'Headers that each request has besides. No later answer has their values. Not those that the request has ' +
          `itself: \`content-...\`, \`webhook-...\`, \`host\` and the like. Empty: none${otherwise}`,
      }),
    ),
    basic_auth: Type.Optional({ ...BasicAuthSchema, description }),
  };
}

const ORDER =
  '`tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side; `none`: all ' +
  'side by side. In `room` and `none`, an event that fails is put aside and tried again by itself';
const IN_FLIGHT = 'Requests at once, in an order other than `tenant`';
const FORMAT =
  '`boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0';
const BATCH =
  'Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`, or a batch of ' +
  'CloudEvents';

type FlowNumber = 'maxInFlight' | 'maxPerSecond' | 'maxBatch';

/** With what holds if they are left out, where something does. */
function flow(
  defaults: Partial<Pick<WebhookSettings, 'order' | 'format'> & Record<FlowNumber, number>> = {},
) {
  const withDefault = <T>(value: T | undefined) => (value === undefined ? {} : { default: value });
  return {
    order: Type.Optional(words(WEBHOOK_ORDERS, { ...withDefault(defaults.order), description: ORDER })),
    max_in_flight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: IN_FLIGHT_MAX,
        ...withDefault(defaults.maxInFlight),
        description: IN_FLIGHT,
      }),
    ),
    max_per_second: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: PER_SECOND_MAX,
        ...withDefault(defaults.maxPerSecond),
        description: 'Requests in a second. 0: as many as it accepts',
      }),
    ),
    format: Type.Optional(words(WEBHOOK_FORMATS, { ...withDefault(defaults.format), description: FORMAT })),
    max_batch: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: BATCH_MAX,
        ...withDefault(defaults.maxBatch),
        description: BATCH,
      }),
    ),
  };
}

export const NewWebhookSchema = strictObject({
  url,
  types: Type.Optional(types),
  rooms: Type.Optional(rooms),
  description: Type.Optional(description),
  ...ownHeaders(),
  ...flow({ ...WEBHOOK_DEFAULTS, maxPerSecond: 0 }),
});

export const WebhookChangeSchema = strictObject({
  url: Type.Optional(url),
  types: Type.Optional(types),
  rooms: Type.Optional(rooms),
  description: Type.Optional(description),
  ...ownHeaders('. Left out: as before'),
  ...flow(),
  paused: Type.Optional(
    Type.Boolean({
      description: '`true`: deliver nothing for now; `false`: go on at once, where the deliveries stopped',
    }),
  ),
});

export const SecretRotationSchema = strictObject({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_SECONDS_MAX,
      default: OVERLAP_SECONDS_DEFAULT,
      description: 'How long the old secrets sign too; by default a day, at most a week',
    }),
  ),
});

export const WebhookSchema = Type.Object(
  {
    id: Type.String({ pattern: '^wh_[0-9a-f]{32}$', description: 'The id of the webhook' }),
    url: Type.String({ description: 'Where events go' }),
    types: Type.Array(Type.String(), { description: 'Which types of events it gets. Empty: all' }),
    rooms: Type.Array(Type.String(), {
      description: 'Names and patterns of rooms whose events it gets. Empty: all events',
    }),
    description: Type.String({ description: 'As given. May be empty' }),
    header_names: Type.Array(Type.String(), {
      description: 'Names of the headers that each request has besides, in lower case. May be empty',
    }),
    has_basic_auth: Type.Boolean({ description: 'Whether requests have Basic authentication' }),
    order: words(WEBHOOK_ORDERS, { description: ORDER }),
    max_in_flight: Type.Integer({ description: IN_FLIGHT }),
    max_per_second: Type.Optional(
      Type.Integer({ description: 'Requests in a second. Absent: as many as it accepts' }),
    ),
    format: words(WEBHOOK_FORMATS, { description: FORMAT }),
    max_batch: Type.Integer({ description: BATCH }),
    state: words(['active', 'paused'] as const, {
      description: '`paused`: nothing is delivered, and events wait',
    }),
    paused_by: Type.Optional(
      words(PAUSERS, {
        description:
          '`tenant`: by a request; `failing`: the last attempt of a delivery failed; `gone`: the answer was 410. ' +
          'Absent: it is active',
      }),
    ),
    paused_at: Type.Optional(time('Since when it is paused. Absent: it is active')),
    delivered_seq: eventSeq('Every wanted event up to this number has been delivered, or is put aside'),
    waiting: Type.Integer({
      description: `Events that are put aside, and are tried again by themselves. At most ${WAITING_MAX.paid}, and ${WAITING_MAX.pending} until the tenant has paid: later events wait then`,
    }),
    waiting_retry_at: Type.Optional(
      time(
        'When the first of these is tried again; one that is past: as soon as there is room. Absent: none is put aside, or the webhook is paused',
      ),
    ),
    given_up: Type.Integer({
      description: `Events that were given up and not sent again since: \`dead-letters\` lists them. ${DEAD_LETTERS_COUNTED_MAX} means so many or more`,
    }),
    failures: Type.Integer({ description: 'Failed attempts since the last delivery' }),
    retry_at: Type.Optional(time('Nothing is tried again before. Absent: nothing has failed, or is retried')),
    public_keys: Type.Array(Type.String(), {
      description: 'Verify the signatures `v1a`: of all secrets that sign now, the newest first',
    }),
    sent_from: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Addresses and networks that requests come from, for firewalls. Absent: the operator does not say',
        examples: [['203.0.113.7', '2001:db8::/64']],
      }),
    ),
    created_at: time('When it was created'),
  },
  { description: 'An endpoint that gets the events of the tenant, without its secret' },
);

type GivenSettings = Partial<Static<typeof WebhookChangeSchema>>;

/** What was given, under the names of the feature. */
export function settingsOf(body: GivenSettings): Partial<WebhookSettings> {
  const { url, types, rooms, description, order, max_in_flight, max_per_second, format, max_batch } = body;
  return {
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types }),
    ...(rooms !== undefined && { rooms }),
    ...(description !== undefined && { description }),
    ...(order !== undefined && { order }),
    ...(max_in_flight !== undefined && { maxInFlight: max_in_flight }),
    ...(max_per_second !== undefined && { maxPerSecond: max_per_second || null }),
    ...(format !== undefined && { format }),
    ...(max_batch !== undefined && { maxBatch: max_batch }),
  };
}

/** The headers that were given, under the names of the feature. */
export function headersOf({ headers, basic_auth }: GivenSettings): GivenHeaders {
  return {
    ...(headers !== undefined && { headers }),
    ...(basic_auth !== undefined && { basicAuth: basic_auth }),
  };
}

export function renderWebhook(
  webhook: Webhook,
  publicKeys: readonly string[],
  sentFrom: readonly string[],
): Static<typeof WebhookSchema> {
  const { pausedBy, pausedAt, retryAt, waitingRetryAt } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    types: [...webhook.types],
    rooms: [...webhook.rooms],
    description: webhook.description,
    header_names: [...webhook.headerNames],
    has_basic_auth: webhook.hasBasicAuth,
    order: webhook.order,
    max_in_flight: webhook.maxInFlight,
    ...(webhook.maxPerSecond !== null && { max_per_second: webhook.maxPerSecond }),
    format: webhook.format,
    max_batch: webhook.maxBatch,
    state: pausedBy === null ? 'active' : 'paused',
    ...(pausedBy !== null && { paused_by: pausedBy }),
    ...(pausedAt && { paused_at: pausedAt.toISOString() }),
    delivered_seq: webhook.seq,
    waiting: webhook.waiting,
    ...(waitingRetryAt && { waiting_retry_at: waitingRetryAt.toISOString() }),
    given_up: webhook.givenUp,
    failures: webhook.failures,
    ...(retryAt && webhook.failures > 0 && { retry_at: retryAt.toISOString() }),
    public_keys: [...publicKeys],
    ...(sentFrom.length > 0 && { sent_from: [...sentFrom] }),
    created_at: webhook.createdAt.toISOString(),
  };
}

export const secretFields = {
  secret: Type.String({
    pattern: '^whsec_',
    description: 'Verifies the signatures `v1`. Shown once',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
  }),
  public_key: Type.String({
    pattern: '^whpk_',
    description: 'Verifies the signatures `v1a`, and may be public',
    examples: ['whpk_Xeh6AW2FPTA8wd6UpJVLvBX5fCR3LnhTSPvxMF7S2Vo='],
  }),
};

export const DeliverySchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the attempt' }),
    kind: words(DELIVERY_KINDS, {
      description:
        '`event`: in its place; `aside`: an event that was put aside, so later ones may have come before; `test`: the ' +
        'test event; `resend`: an event that was asked for again',
    }),
    event_id: Type.String({
      description: 'The id of the event. The header `webhook-id` is the same, unless the request was a list',
    }),
    batch_id: Type.Optional(
      Type.String({
        description:
          'The header `webhook-id` of the request, which was a list of events. Absent: it was the event',
      }),
    ),
    seq: Type.Optional(eventSeq('The number of the event. Absent: a test')),
    type: Type.String({ description: `The type of the event, or \`${TEST_EVENT_TYPE}\`` }),
    attempt: Type.Integer({ description: 'Counts the attempts to deliver the event in a row, from 1' }),
    delivered: Type.Boolean({ description: 'The answer had a status from 200 to 299' }),
    gave_up: Type.Boolean({ description: 'It was the last attempt: the event is not sent again' }),
    status: Type.Optional(Type.Integer({ description: 'Of the answer. Absent: there was none' })),
    error: Type.Optional(Type.String({ description: 'Why there was no answer. Absent: there was one' })),
    answer: Type.Optional(Type.String({ description: 'The first 1024 characters of the answer' })),
    latency_ms: Type.Integer({ description: 'From the start of the request to its outcome' }),
    at: time('When the outcome was known'),
  },
  { description: 'An attempt to send an event' },
);

export const DeadLetterSchema = Type.Object(
  {
    event_id: Type.String({ description: 'The id of the event, which is the header `webhook-id`' }),
    seq: eventSeq('The number of the event'),
    type: Type.String({ description: 'The type of the event' }),
    room: Type.Optional(Type.String({ description: 'The name of its room. Absent: it has none' })),
    happened_at: Type.Optional(
      time('When it happened. Absent: it is not kept any more, and cannot be sent again'),
    ),
    attempts: Type.Integer({ description: 'How often it was sent in vain' }),
    reason: words(DEATHS, {
      description:
        'Why the last attempt failed: `refused`: the answer had another status than 2xx; `unanswered`: there was none. ' +
        'The webhook accepted other events meanwhile',
    }),
    status: Type.Optional(Type.Integer({ description: 'Of the last answer. Absent: there was none' })),
    error: Type.Optional(Type.String({ description: 'Why there was no answer. Absent: there was one' })),
    answer: Type.Optional(Type.String({ description: 'The first 1024 characters of the last answer' })),
    given_up_at: time('When the last attempt had failed'),
  },
  { description: 'An event that was given up, and was not sent again since' },
);

export function renderDeadLetter(letter: DeadLetter): Static<typeof DeadLetterSchema> {
  const { seq, type, room, happenedAt, status, error, answer } = letter;
  return {
    event_id: letter.eventId,
    seq,
    type,
    ...(room !== null && { room }),
    ...(happenedAt && { happened_at: happenedAt.toISOString() }),
    attempts: letter.attempt,
    reason: deathOf(letter),
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(answer !== null && { answer }),
    given_up_at: letter.at.toISOString(),
  };
}

export function renderDelivery(delivery: Delivery): Static<typeof DeliverySchema> {
  const { seq, status, error, answer } = delivery;
  return {
    id: renderDeliveryId(delivery.id),
    kind: delivery.kind,
    event_id: delivery.eventId,
    ...(delivery.batchId !== null && { batch_id: delivery.batchId }),
    ...(seq !== null && { seq }),
    type: delivery.type,
    attempt: delivery.attempt,
    delivered: isDelivered(delivery),
    gave_up: delivery.gaveUp ?? false,
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(answer !== null && { answer }),
    latency_ms: delivery.latencyMs,
    at: delivery.at.toISOString(),
  };
}
