/** The fields of a webhook, as the forms that create and change one have them. */
import { type Html, html } from '@boxoffice/pages/html';
import { parseLine } from '../../../base/lib/one-line.ts';
import {
  PUBLIC_EVENT_TYPES,
  PUBLIC_EVENTS,
  type PublicEventType,
} from '../../../outward/events/event-catalogue.ts';
import type { AddressRanges } from '../../../outward/webhooks/address-guard.ts';
import { WEBHOOK_DESCRIPTION_LENGTH_MAX, type WebhookSettings } from '../../../outward/webhooks/webhook.ts';
import { parseWebhookUrl, WEBHOOK_URL_CHARACTERS_MAX } from '../../../outward/webhooks/webhook-url.ts';
import { checkbox, type Faults, field } from '../../consoles/components.ts';
import { orWrong, readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';

/** A box for each type, because a form has each field once. */
const boxOf = (type: PublicEventType) => `type_${type}`;

export const WEBHOOK_FIELDS = ['form', 'url', 'description', ...PUBLIC_EVENT_TYPES.map(boxOf)];

/** What was typed, before it is checked. No type that is chosen means all. */
export function typedWebhook(form: Form): WebhookSettings {
  return {
    url: (form.get('url') ?? '').trim(),
    types: PUBLIC_EVENT_TYPES.filter((type) => form.has(boxOf(type))),
    description: (form.get('description') ?? '').trim(),
  };
}

const WRONG_DESCRIPTION = `Must have at most ${WEBHOOK_DESCRIPTION_LENGTH_MAX} characters.`;

/** `before`: the address so far, which may stay whatever it is. Fails with `invalid_request`. */
export function parseWebhook(form: Form, allowed: AddressRanges, before?: string): WebhookSettings {
  const typed = typedWebhook(form);
  const { url, description } = typed;
  readFields({
    url: () => url === before || parseWebhookUrl(url, allowed),
    description: () =>
      description === '' ||
      orWrong(parseLine(description, WEBHOOK_DESCRIPTION_LENGTH_MAX), WRONG_DESCRIPTION),
  });
  return typed;
}

export function renderWebhookFields({ url, types, description }: WebhookSettings, faults: Faults): Html {
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
<details${types.length > 0 && html` open`}><summary>Only some types of events</summary>
<fieldset><legend class="hidden">Types of events. None: all</legend><div class="checks">${PUBLIC_EVENT_TYPES.map(
    (type) => checkbox(boxOf(type), html`<code>${type}</code>`, types.includes(type), PUBLIC_EVENTS[type]),
  )}</div></fieldset></details>`;
}
