/**
 * The body of a request to a webhook: one event or a list of them, in the format that the webhook has chosen.
 *
 * Source: CloudEvents 1.0.2 with its JSON format and its HTTP binding (structured and batched mode).
 */
import { createHash } from 'node:crypto';
import { exactJson } from '../../base/lib/exact-json.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { PublicEvent } from '../events/public-event.ts';
import type { WebhookFormat } from './webhook.ts';

export interface WebhookBody {
  /** The header `webhook-id`: that of the event, or one that just these events have together. */
  readonly id: string;
  readonly contentType: string;
  /** JSON. */
  readonly body: string;
}

interface Format {
  readonly contentType: string;
  readonly contentTypeOfList: string;
  readonly event: (event: PublicEvent, tenant: TenantId) => object;
  readonly list: (events: readonly object[]) => object;
}

const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  boxoffice: {
    contentType: 'application/json',
    contentTypeOfList: 'application/json',
    event: (event) => event,
    // As `GET /v1/events` answers them.
    list: (events) => ({ events }),
  },
  cloudevents: {
    contentType: 'application/cloudevents+json',
    contentTypeOfList: 'application/cloudevents-batch+json',
    event: cloudEvent,
    list: (events) => events,
  },
};

/** `isList`: of a webhook that gets several events in a request, even if it is one. */
export function renderBody(
  tenant: TenantId,
  events: readonly [PublicEvent, ...PublicEvent[]],
  { format, isList }: { readonly format: WebhookFormat; readonly isList: boolean },
): WebhookBody {
  const { contentType, contentTypeOfList, event, list } = FORMATS[format];
  const rendered = events.map((each) => event(each, tenant));
  if (!isList) return { id: events[0].id, contentType, body: exactJson(rendered[0]) };
  return { id: batchIdOf(events), contentType: contentTypeOfList, body: exactJson(list(rendered)) };
}

/** The same for the same events: a repetition of the request has it again. */
function batchIdOf(events: readonly PublicEvent[]): string {
  const hash = createHash('sha256').update(events.map(({ id }) => id).join(' '));
  return `evb_${hash.digest('hex').slice(0, 32)}`;
}

/** So that a receiver that takes a megabyte takes each list: most characters have at most three bytes. */
export const LIST_CHARACTERS_MAX = 256 * 1_024;

/** The first events that go together in one request: at most `max`, and fewer if they are large. */
export function takeList<T extends { readonly subject: unknown }>(events: Iterable<T>, max: number): T[] {
  const list: T[] = [];
  let characters = 0;
  for (const event of events) {
    if (list.length === max) break;
    if (max > 1) characters += JSON.stringify(event.subject).length;
    if (list.length > 0 && characters > LIST_CHARACTERS_MAX) break;
    list.push(event);
  }
  return list;
}

/** Digits of the largest number of an event. */
const SEQ_DIGITS = 19;

/** `sequence` may be compared as text. Integers of CloudEvents have 32 bits, so `skipped` is a text, too. */
function cloudEvent(event: PublicEvent, tenant: TenantId): object {
  const { id, seq, type, schema_version, timestamp, skipped, data } = event;
  return {
    specversion: '1.0',
    id,
    source: `/tenants/${renderTenantId(tenant)}`,
    type: `boxoffice.${type}`,
    time: timestamp,
    datacontenttype: 'application/json',
    sequence: String(seq).padStart(SEQ_DIGITS, '0'),
    schemaversion: schema_version,
    ...(skipped !== undefined && { skipped: String(skipped) }),
    data,
  };
}
