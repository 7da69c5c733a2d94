/** `/console/webhooks/:id/deliveries/:delivery`: what one attempt sent, and what came back. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { notFound } from '../../../base/failure.ts';
import { type Delivery, isDelivered, parseDeliveryId } from '../../../outward/webhooks/delivery.ts';
import { type DeliveryRequest, getDelivery } from '../../../outward/webhooks/get-delivery.ts';
import { getWebhook } from '../../../outward/webhooks/get-webhook.ts';
import type { WebhookFormat } from '../../../outward/webhooks/webhook.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { badge, codeOf, named, timeOf } from '../../consoles/components.ts';
import { facts } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { resendForm } from './webhook-deliveries.ts';
import { renderSnippets } from './webhook-snippets.ts';
import { addressFor } from './webhooks.ts';

export async function showDelivery({ deps, session, params }: SessionCall): Promise<Answer> {
  const { id = '' } = params;
  const number = parseDeliveryId(params.delivery ?? '');
  if (number === undefined) throw notFound('delivery');
  const webhook = await getWebhook(deps.db, session.tenant, id);
  const { delivery, request } = await getDelivery(deps, session.tenant, id, number);
  const mayChange = mayDo(session.role, 'change_webhooks');
  const path = `/console/webhooks/${id}`;
  const body = html`<p><a href="${path}">Back to the webhook</a></p><h1>Delivery of ${codeOf(delivery.type)}</h1>
<section class="card">${renderOutcome(delivery, addressFor(session, webhook), mayChange)}
${mayChange && delivery.seq !== null && html`<div class="actions">${resendForm(path, delivery.seq, delivery.type)}</div>`}</section>
<h2>Request</h2>
${(webhook.hasBasicAuth || webhook.headerNames.length > 0) && html`<p class="hint">Headers of your own, and Basic authentication, are never shown.</p>`}
${request ? renderRequest(request, delivery.format, mayChange) : html`<p class="hint">The event is not kept any more, so the request cannot be shown.</p>`}`;
  return page({ title: 'Delivery', body });
}

function renderOutcome(delivery: Delivery, address: string, mayChange: boolean): Html {
  const { at, signedAt, status, error, answer, latencyMs, attempt, kind, seq, gaveUp } = delivery;
  const attempts = {
    event: `attempt ${attempt}`,
    aside: `attempt ${attempt}, put aside: later events may have come before`,
    test: 'a test',
    resend: 'sent again on request',
  };
  const look = isDelivered(delivery) ? 'good' : 'bad';
  const told = html`<pre tabindex="0"><code>${answer}</code></pre>`;
  return facts('Outcome', {
    To: named(address),
    Sent: timeOf(signedAt ?? at),
    Attempt: attempts[kind],
    'Number of the event': seq,
    Outcome: html`${badge(status === null ? 'no answer' : String(status), look)} after ${latencyMs} ms`,
    ...(gaveUp && { Afterwards: 'given up: the event is not sent again by itself' }),
    // What a receiver answers may hold its secrets.
    ...(mayChange && error !== null && { Why: named(error) }),
    ...(mayChange && answer !== null && { Answer: answer === '' ? 'empty' : told }),
  });
}

function renderRequest(request: DeliveryRequest, format: WebhookFormat, mayChange: boolean): Html {
  const { headers, body } = request;
  const { 'webhook-signature': signature, ...others } = headers;
  const shown = mayChange && signature !== undefined ? headers : others;
  const lines = Object.entries(shown).map(([name, value]) => `${name}: ${value}`);
  return html`<section class="card"><p class="label">Headers</p>
<pre tabindex="0"><code>${lines.join('\n')}</code></pre>
${mayChange && signature === undefined && html`<p class="hint">The secret that signed it is gone, so its signature cannot be shown.</p>`}
<p class="label">Body</p>
<pre tabindex="0"><code id="delivery-body">${body}</code></pre><button type="button" data-copy="delivery-body" hidden>Copy the body</button></section>
${/* CloudEvents have libraries of their own. */ mayChange && signature !== undefined && format === 'boxoffice' && renderSnippets(request)}`;
}
