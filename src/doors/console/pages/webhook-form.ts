/** The fields of a webhook, as the forms that create and change one have them. */
import { type Html, html } from '@boxoffice/pages/html';
import {
  PUBLIC_EVENT_TYPES,
  PUBLIC_EVENTS,
  type PublicEventType,
} from '../../../outward/events/event-catalogue.ts';
import type { AddressRanges } from '../../../outward/webhooks/address-guard.ts';
import {
  BATCH_MAX,
  IN_FLIGHT_MAX,
  PER_SECOND_MAX,
  parseDescription,
  WEBHOOK_DEFAULTS,
  WEBHOOK_DESCRIPTION_LENGTH_MAX,
  WEBHOOK_FORMATS,
  WEBHOOK_ORDERS,
  WEBHOOK_ROOMS_MAX,
  type WebhookFormat,
  type WebhookOrder,
  type WebhookSettings,
} from '../../../outward/webhooks/webhook.ts';
import { parseWebhookUrl, WEBHOOK_URL_CHARACTERS_MAX } from '../../../outward/webhooks/webhook-url.ts';
import { checkbox, codeOf, type Faults, field, select } from '../../consoles/components.ts';
import { parseChoice, parseWhole } from '../../consoles/fields.ts';
import { readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import { parseRoomPatterns } from '../room-patterns.ts';

/** A box for each type, because a form has each field once. */
const boxOf = (type: PublicEventType) => `type_${type}`;

export const WEBHOOK_FIELDS = [
  'form',
  'url',
  'rooms',
  'description',
  'order',
  'max_in_flight',
  'max_per_second',
  'format',
  'max_batch',
  ...PUBLIC_EVENT_TYPES.map(boxOf),
];

/** What was typed, before it is checked. No type that is chosen means all. */
export interface TypedWebhook extends Pick<WebhookSettings, 'url' | 'types' | 'description'> {
  /** Separated by spaces or commas. Empty: all. */
  readonly rooms: string;
  readonly order: string;
  readonly maxInFlight: string;
  /** Empty: no limit. */
  readonly maxPerSecond: string;
  readonly format: string;
  readonly maxBatch: string;
}

export function typedWebhook(form: Form): TypedWebhook {
  const text = (name: string, otherwise = '') => (form.get(name) ?? otherwise).trim();
  return {
    url: text('url'),
    types: PUBLIC_EVENT_TYPES.filter((type) => form.has(boxOf(type))),
    rooms: text('rooms'),
    description: text('description'),
    order: text('order', WEBHOOK_DEFAULTS.order),
    maxInFlight: text('max_in_flight', String(WEBHOOK_DEFAULTS.maxInFlight)),
    maxPerSecond: text('max_per_second'),
    format: text('format', WEBHOOK_DEFAULTS.format),
    maxBatch: text('max_batch', String(WEBHOOK_DEFAULTS.maxBatch)),
  };
}

/** As if its settings had been typed. */
export function typedOf(settings: WebhookSettings): TypedWebhook {
  const { maxInFlight, maxPerSecond, maxBatch, rooms } = settings;
  const texts = {
    maxInFlight: String(maxInFlight),
    maxPerSecond: String(maxPerSecond ?? ''),
    maxBatch: String(maxBatch),
    rooms: rooms.join(' '),
  };
  return { ...settings, ...texts };
}

/** `before`: the address so far, which may stay whatever it is. Fails with `invalid_request`. */
export function parseWebhook(form: Form, allowed: AddressRanges, before?: string): WebhookSettings {
  const { url, types, rooms, description, order, maxInFlight, maxPerSecond, format, maxBatch } =
    typedWebhook(form);
  const read = readFields({
    url: () => url === before || parseWebhookUrl(url, allowed),
    rooms: () => parseRoomPatterns(rooms, WEBHOOK_ROOMS_MAX, 'atEnd'),
    description: () => parseDescription(description),
    order: () => parseChoice('order', order, WEBHOOK_ORDERS),
    max_in_flight: () => parseWhole(maxInFlight, 1, IN_FLIGHT_MAX),
    max_per_second: () => (maxPerSecond === '' ? null : parseWhole(maxPerSecond, 1, PER_SECOND_MAX)),
    format: () => parseChoice('format', format, WEBHOOK_FORMATS),
    max_batch: () => parseWhole(maxBatch, 1, BATCH_MAX),
  });
  const flow = { order: read.order, maxInFlight: read.max_in_flight, maxPerSecond: read.max_per_second };
  const body = { format: read.format, maxBatch: read.max_batch };
  return { url, types, rooms: read.rooms, description, ...flow, ...body };
}

const ORDER_TEXTS: Readonly<Record<WebhookOrder, string>> = {
  tenant: 'All in order, one at a time',
  room: 'In order in each room, rooms side by side',
  none: 'In no order, side by side',
};

const FORMAT_TEXTS: Readonly<Record<WebhookFormat, string>> = {
  boxoffice: 'As GET /v1/events answers them',
  cloudevents: 'CloudEvents',
};

export function renderWebhookFields(typed: TypedWebhook, faults: Faults): Html {
  const { url, types, description } = typed;
  return html`${field({
    name: 'url',
    label: 'Address',
    value: url,
    hint: html`Where events go, such as <code>https://app.example.com/hooks</code>.`,
    faults,
    input: html`type="url" maxlength="${WEBHOOK_URL_CHARACTERS_MAX}" autocomplete="off" spellcheck="false" required`,
  })}
${field({
  name: 'description',
  label: 'Description',
  value: description,
  hint: 'So that you know later what gets them.',
  faults,
  input: html`maxlength="${WEBHOOK_DESCRIPTION_LENGTH_MAX}" autocomplete="off"`,
})}
${field({
  name: 'rooms',
  label: 'Only events of rooms',
  value: typed.rooms,
  hint: html`Names, or beginnings of names before a <code>*</code>, by spaces or commas. Empty: all events, also those of no room.`,
  faults,
  input: html`autocomplete="off" spellcheck="false"`,
})}
${renderFlow(typed, faults)}
${renderBodyFields(typed, faults)}
<details><summary>Only some types of events${types.length > 0 && `: ${types.length} of ${PUBLIC_EVENT_TYPES.length}`}</summary>
<fieldset><legend class="hidden">Types of events. None: all</legend><div class="checks">${PUBLIC_EVENT_TYPES.map(
    (type) => checkbox(boxOf(type), codeOf(type), types.includes(type), PUBLIC_EVENTS[type]),
  )}</div></fieldset></details>`;
}

function renderFlow({ order, maxInFlight, maxPerSecond }: TypedWebhook, faults: Faults): Html {
  const choices = WEBHOOK_ORDERS.map((value) => ({ value, text: ORDER_TEXTS[value] }));
  return html`${select('order', 'Order of events', choices, order, faults)}
${field({
  name: 'max_in_flight',
  label: 'Requests at once',
  value: maxInFlight,
  hint: 'Where events are sent side by side.',
  faults,
  input: html`type="number" min="1" max="${IN_FLIGHT_MAX}" required`,
})}
${field({
  name: 'max_per_second',
  label: 'Requests in a second, at most',
  value: maxPerSecond,
  hint: 'Empty: as many as it accepts.',
  faults,
  input: html`type="number" min="1" max="${PER_SECOND_MAX}"`,
})}`;
}

function renderBodyFields({ format, maxBatch }: TypedWebhook, faults: Faults): Html {
  const choices = WEBHOOK_FORMATS.map((value) => ({ value, text: FORMAT_TEXTS[value] }));
  return html`${select('format', 'Names in the events', choices, format, faults)}
${field({
  name: 'max_batch',
  label: 'Events in one request, at most',
  value: maxBatch,
  hint: '1: each has its own. More: a request is always a list.',
  faults,
  input: html`type="number" min="1" max="${BATCH_MAX}" required`,
})}`;
}
