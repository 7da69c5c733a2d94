/** Webhooks, their state and attempts to deliver, as both consoles show them. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DEAD_LETTERS_COUNTED_MAX } from '../../outward/webhooks/dead-letter.ts';
import {
  DELIVERY_OUTCOMES,
  type Delivery,
  type DeliveryKind,
  type DeliveryOutcome,
  isDelivered,
  renderDeliveryId,
} from '../../outward/webhooks/delivery.ts';
import { listDeliveries } from '../../outward/webhooks/list-deliveries.ts';
import type { Pauser, Webhook, WebhookOrder } from '../../outward/webhooks/webhook.ts';
import type { Form } from '../http/form.ts';
import { noSuchPage } from '../http/no-such-page.ts';
import { badge, codeOf, countDownTo, countOf, emptyState, named, timeOf } from './components.ts';
import { choiceOf, queryOf } from './query.ts';
import { table } from './table.ts';

const PAGE_SIZE = 25;
/** So many of the newest attempts are shown. All of a page would push the rest of it far down on a phone. */
const ROWS_OPEN = 5;
const ANSWER_LENGTH_SHOWN = 200;

/** `addressOf`: what the reader may see of an address. */
export function webhooksTable(
  path: string,
  webhooks: readonly Webhook[],
  addressOf: (webhook: Webhook) => string,
): Html {
  return table(
    'Webhooks',
    ['Address', 'Description', 'Events', 'Order', 'State'],
    webhooks.map((each) => [
      html`<a href="${path}/${each.id}">${named(addressOf(each))}</a>`,
      named(each.description),
      wantedText(each),
      ORDERS[each.order],
      html`<span>${stateOf(each)}</span>`,
    ]),
    { names: 'Address' },
  );
}

function wantedText({ types, rooms }: Webhook): string {
  const what = types.length === 0 ? 'all' : countOf(types.length, 'type');
  return rooms.length === 0 ? what : `${what}, of rooms ${rooms.join(' ')}`;
}

const ORDERS: Readonly<Record<WebhookOrder, string>> = {
  tenant: 'all in order',
  room: 'by room',
  none: 'none',
};

/** An address may hold a secret of its receiver, but for its host. */
export function hostOf({ url }: Pick<Webhook, 'url'>): string {
  return new URL(url).host;
}

const PAUSES: Readonly<Record<Pauser, string>> = {
  tenant: 'paused',
  failing: 'paused: deliveries failed',
  gone: 'paused: it answered 410',
};

export function stateOf({ pausedBy, failures, retryAt }: Webhook): Html {
  if (pausedBy !== null) return badge(PAUSES[pausedBy], pausedBy === 'tenant' ? 'warn' : 'bad');
  if (failures === 0) return badge('delivers', 'good');
  const attempts = failures === 1 ? '1 attempt failed' : `${failures} attempts failed`;
  return html`${badge(attempts, 'warn')}${retryAt && html` next ${countDownTo(retryAt)}`}`;
}

export interface DeliveriesSite {
  /** The page of the webhook. */
  readonly path: string;
  /** How long attempts are kept. */
  readonly keptDays: number;
  /** Whether an attempt has a page of its own below it. */
  readonly hasDetails: boolean;
  /** Whether the reader may see what a receiver answered: it may hold secrets, as its address may. */
  readonly showsAnswers: boolean;
  /** The form that sends an event again; absent: the reader may not. */
  readonly again?: (seq: bigint, type: string) => Html;
}

/** How many events are put aside, and when the first is tried again. `undefined`: none is. */
export function asideText({ waiting, waitingRetryAt }: Webhook): Html | undefined {
  if (waiting === 0) return undefined;
  return html`${countOf(waiting, 'event')} put aside${waitingRetryAt && html`, next tried ${countDownTo(waitingRetryAt)}`}`;
}

/** `12`, or `1,000 or more`. */
export function givenUpText({ givenUp }: Webhook): string {
  const text = givenUp.toLocaleString('en-US');
  return givenUp < DEAD_LETTERS_COUNTED_MAX ? text : `${text} or more`;
}

const OUTCOME_TEXTS: Readonly<Record<DeliveryOutcome, string>> = { delivered: 'Delivered', failed: 'Failed' };

function outcomeLinks(path: string, chosen: DeliveryOutcome | undefined): Html {
  const linkTo = (outcome: DeliveryOutcome | undefined, text: string) =>
    html`<a href="${path}${outcome && `?outcome=${outcome}`}"${outcome === chosen && html` aria-current="true"`}>${text}</a>`;
  return html`<p class="pages">${linkTo(undefined, 'All')}${DELIVERY_OUTCOMES.map((each) => linkTo(each, OUTCOME_TEXTS[each]))}</p>`;
}

/** The newest attempts of the webhook, by `outcome` in the query; older ones by `before`. */
export async function renderDeliveries(
  { db, tenant, query }: { readonly db: Db; readonly tenant: TenantId; readonly query: Form },
  { id }: Webhook,
  site: DeliveriesSite,
): Promise<Html> {
  const text = query.get('before');
  if (text !== undefined && !/^[1-9]\d{0,17}$/.test(text)) throw noSuchPage();
  const before = text === undefined ? undefined : BigInt(text);
  const outcome = choiceOf(query, 'outcome', DELIVERY_OUTCOMES);
  const { deliveries, end } = await listDeliveries(db, tenant, id, { before, outcome, size: PAGE_SIZE });
  const { path, again } = site;
  if (deliveries.length === 0) {
    return outcome === undefined
      ? emptyState('Nothing was sent yet.', `Each attempt is listed here for ${site.keptDays} days.`)
      : html`${outcomeLinks(path, outcome)}${emptyState('No attempt ended so.', '')}`;
  }
  const linkTo = (more: Readonly<Record<string, string>>) => `${path}${queryOf(query, ['outcome'], more)}`;
  const tableOf = (label: string, rows: readonly Delivery[]) =>
    table(
      label,
      ['Time', 'Event', 'Number', 'Attempt', 'Outcome', 'Took', again !== undefined && 'Again'],
      rows.map((each) => cellsOf(site, each)),
      { numbers: ['Took'] },
    );
  // Who has asked for certain ones came for the list.
  const open = outcome === undefined && before === undefined ? ROWS_OPEN : PAGE_SIZE;
  const folded = deliveries.slice(open);
  return html`${outcomeLinks(path, outcome)}${tableOf('Attempts, the newest first', deliveries.slice(0, open))}${
    folded.length > 0 &&
    html`<details><summary>${countOf(folded.length, 'earlier attempt')}</summary>${tableOf('Earlier attempts', folded)}</details>`
  }<p class="pages">${before !== undefined && html`<a href="${linkTo({})}">Newest</a>`}${
    end !== undefined && html`<a href="${linkTo({ before: String(end) })}" rel="next">Older attempts</a>`
  }</p>`;
}

function cellsOf({ path, hasDetails, showsAnswers, again }: DeliveriesSite, delivery: Delivery): HtmlValue[] {
  const { id, at, type, seq, attempt, kind, latencyMs, status, error, answer, gaveUp } = delivery;
  const look = isDelivered(delivery) ? 'good' : 'bad';
  const said = showsAnswers ? (error ?? answer ?? '') : '';
  return [
    hasDetails ? html`<a href="${path}/deliveries/${renderDeliveryId(id)}">${timeOf(at)}</a>` : timeOf(at),
    codeOf(type),
    seq ?? '–',
    attemptText(kind, attempt),
    html`<span>${badge(status === null ? 'no answer' : String(status), look)}${
      gaveUp && html` ${badge('given up', 'bad')}`
    }${said !== '' && html` <span class="hint">${named(shorten(said))}</span>`}</span>`,
    `${latencyMs} ms`,
    seq !== null && again?.(seq, type),
  ];
}

function attemptText(kind: DeliveryKind, attempt: number): string {
  if (kind === 'event') return String(attempt);
  return kind === 'aside' ? `${attempt}, put aside` : kind;
}

function shorten(text: string): string {
  return text.length > ANSWER_LENGTH_SHOWN ? `${text.slice(0, ANSWER_LENGTH_SHOWN).toWellFormed()}…` : text;
}
