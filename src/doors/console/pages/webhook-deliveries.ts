/** Attempts to send events to a webhook, as its page shows them. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import {
  DELIVERY_DAYS,
  type Delivery,
  isDelivered,
  renderDeliveryId,
} from '../../../outward/webhooks/delivery.ts';
import { listDeliveries } from '../../../outward/webhooks/list-deliveries.ts';
import type { Webhook } from '../../../outward/webhooks/webhook.ts';
import { badge, emptyState, formId, named, timeOf } from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';
import { noSuchPage } from '../../http/no-such-page.ts';
import type { SessionCall } from '../route.ts';

const PAGE_SIZE = 25;
const ANSWER_LENGTH_SHOWN = 200;

/** What became of an event that was sent on request. */
export interface Outcome {
  readonly type: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** The form in which it is kept, in case the form is sent twice. */
export function keepOutcome({ type, status, error, latencyMs }: Delivery): string {
  return JSON.stringify({ type, status, error, latencyMs } satisfies Outcome);
}

export function renderOutcome({ type, status, error, latencyMs }: Outcome): Html {
  if (isDelivered({ status }))
    return html`<p class="done" role="status"><code>${type}</code> was delivered: status ${status} after ${latencyMs} ms.</p>`;
  const why =
    status === null ? html`there was no answer: ${error}` : html`the answer had the status ${status}`;
  return html`<p class="alert" role="alert"><code>${type}</code> was not delivered: ${why}.</p>`;
}

/** The page is in the query: `before`. */
export async function renderDeliveries(
  { deps, session, query }: SessionCall,
  { id }: Webhook,
  mayChange: boolean,
): Promise<Html> {
  const text = query.get('before');
  if (text !== undefined && !/^[1-9]\d{0,17}$/.test(text)) throw noSuchPage();
  const before = text === undefined ? undefined : BigInt(text);
  const { deliveries, end } = await listDeliveries(deps.db, session.tenant, id, { before, size: PAGE_SIZE });
  if (deliveries.length === 0)
    return emptyState('Nothing was sent yet.', `Each attempt is listed here for ${DELIVERY_DAYS} days.`);
  const path = `/console/webhooks/${id}`;
  return html`${table(
    'Attempts, the newest first',
    ['Time', 'Event', 'Number', 'Attempt', 'Outcome', 'Took', mayChange && 'Again'],
    deliveries.map((each) => cellsOf(path, each, mayChange)),
    { numbers: ['Took'] },
  )}<p class="pages">${before !== undefined && html`<a href="${path}">Newest</a>`}${
    end !== undefined && html`<a href="${path}?before=${end}" rel="next">Older attempts</a>`
  }</p>`;
}

function cellsOf(path: string, delivery: Delivery, mayChange: boolean): HtmlValue[] {
  const { id, at, type, seq, attempt, kind, latencyMs, status, error, answer } = delivery;
  const look = isDelivered(delivery) ? 'good' : 'bad';
  // What a receiver answers may hold its secrets, as its address may.
  const said = mayChange ? (error ?? answer ?? '') : '';
  return [
    html`<a href="${path}/deliveries/${renderDeliveryId(id)}">${timeOf(at)}</a>`,
    html`<code>${type}</code>`,
    seq ?? '–',
    kind === 'event' ? attempt : kind,
    html`<span>${badge(status === null ? 'no answer' : String(status), look)}${
      said !== '' && html` <span class="hint">${named(shorten(said))}</span>`
    }</span>`,
    `${latencyMs} ms`,
    seq !== null && resendForm(path, seq, type),
  ];
}

export function resendForm(path: string, seq: bigint, type: string): Html {
  return html`<form class="inline" method="post" action="${path}/resend">${formId()}
<input type="hidden" name="seq" value="${seq}"><button>Resend<span class="hidden"> ${type} ${seq}</span></button></form>`;
}

function shorten(text: string): string {
  return text.length > ANSWER_LENGTH_SHOWN ? `${text.slice(0, ANSWER_LENGTH_SHOWN).toWellFormed()}…` : text;
}
