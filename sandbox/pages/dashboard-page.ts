/** The dashboard at `/`: what happened, and buttons for what buyers, banks and the card network could do next. */

import { type Html, html } from '@boxoffice/pages/html';
import { ApiError } from '../http/errors.ts';
import type { Reply } from '../http/request.ts';
import { pageUrl, totalOf } from '../objects/checkout-session.ts';
import type { Delivery } from '../objects/delivery.ts';
import { type Dispute, isOpen } from '../objects/dispute.ts';
import type { PaymentIntent } from '../objects/payment-intent.ts';
import type { Provider } from '../provider.ts';
import { formatAmount, formatTime } from './format.ts';
import { redirect, renderNotice, renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

const ROWS_MAX = 50;

export function showDashboard({ provider, mailbox }: PageCall): Reply {
  const body = html`<main>
<header><h1>${provider.merchantName} sandbox</h1><p class="hint">A payment provider that speaks Stripe's API, for development and tests.</p>${mailbox === undefined ? null : html`<p><a href="/mailbox">Mailbox</a></p>`}</header>
${payments(provider)}
${checkouts(provider)}
${deliveries(provider)}
</main>`;
  return renderPage({ title: `${provider.merchantName} sandbox`, body, layout: 'wide' });
}

export function submitDashboard(call: PageCall): Reply {
  const { action, id } = call.form;
  if (typeof action !== 'string' || typeof id !== 'string') return problem('Choose what to do.');
  try {
    act(call, action, id);
    return redirect('/');
  } catch (error) {
    if (error instanceof ApiError) return problem(error.message);
    throw error;
  }
}

function act({ control, form }: PageCall, action: string, id: string): void {
  switch (action) {
    case 'refund':
      control.refund(id, { amount: readAmount(form.amount) });
      return;
    case 'dispute':
      control.dispute(id);
      return;
    case 'win':
      control.winDispute(id);
      return;
    case 'lose':
      control.loseDispute(id);
      return;
    case 'appeal':
      control.appealDispute(id);
      return;
    case 'warn':
      control.warnOfFraud(id);
      return;
    case 'settle':
      control.settle(id, 'succeeded');
      return;
    case 'return':
      control.settle(id, 'failed');
      return;
    case 'expire':
      control.expireCheckout(id);
      return;
    case 'redeliver':
      void control.redeliver(id);
      return;
    default:
      throw new ApiError(400, 'invalid_request_error', 'The sandbox does not know that action.');
  }
}

/** Dollars and cents as typed; empty means the rest. */
function readAmount(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const match = /^(\d{1,7})(?:\.(\d{2}))?$/.exec(value.trim());
  if (match === null) throw new ApiError(400, 'invalid_request_error', 'Type an amount such as 12.50.');
  return Number(match[1]) * 100 + Number(match[2] ?? '0');
}

function payments(provider: Provider): Html {
  const rows = provider.state.all('paymentIntents').reverse().slice(0, ROWS_MAX);
  return html`<section aria-labelledby="payments"><h2 id="payments">Payments</h2>${
    rows.length === 0
      ? html`<p class="empty">No payment yet.</p>`
      : html`<ul class="rows">${rows.map((intent) => payment(provider, intent))}</ul>`
  }</section>`;
}

function payment(provider: Provider, intent: PaymentIntent): Html {
  const charge = provider.state.get('charges', intent.latestCharge ?? '');
  const disputes = provider.state.all('disputes').filter(({ paymentIntent }) => paymentIntent === intent.id);
  const refunded = charge?.amountRefunded ?? 0;
  const customer = provider.state.get('customers', intent.customer ?? '');
  return html`<li class="row" id="${intent.id}">
<div class="row-main">
<strong class="money">${formatAmount(intent.amount, intent.currency)}</strong>
<span class="badge ${intent.status}">${intent.status.replaceAll('_', ' ')}</span>
${refunded === 0 ? null : html`<span class="badge">refunded ${formatAmount(refunded, intent.currency)}</span>`}
<span class="hint">${formatTime(intent.created)}${intent.lastError === null ? null : html` · ${intent.lastError.decline.declineCode}`} · ${customer?.email ?? intent.customer ?? 'no customer'} · <code>${intent.id}</code></span>
${disputes.map((dispute) => disputeRow(dispute))}
</div>
${paymentActions(intent, (charge?.amount ?? 0) - refunded, disputes)}
</li>`;
}

function paymentActions(intent: PaymentIntent, left: number, disputes: Dispute[]): Html | null {
  if (intent.status === 'processing') {
    return html`<form method="post" class="actions"><input type="hidden" name="id" value="${intent.id}">
<button type="submit" name="action" value="settle">Settle</button>
<button class="danger" type="submit" name="action" value="return">Return unpaid</button></form>`;
  }
  if (intent.status !== 'succeeded') return null;
  const refundForm = html`<label class="inline">Amount <input name="amount" inputmode="decimal" size="8" placeholder="${(left / 100).toFixed(2)}"></label>
<button type="submit" name="action" value="refund">Refund</button>`;
  const disputeForm = html`<button type="submit" name="action" value="dispute">Dispute</button>
<button type="submit" name="action" value="warn">Fraud warning</button>`;
  return html`<form method="post" class="actions"><input type="hidden" name="id" value="${intent.id}">
${left > 0 && !disputes.some(isOpen) ? refundForm : null}
${disputes.length === 0 ? disputeForm : null}
</form>`;
}

function disputeRow(dispute: Dispute): Html {
  return html`<div class="sub"><span>Dispute over ${formatAmount(dispute.amount, dispute.currency)} (${dispute.reason.replaceAll('_', ' ')})</span>
<span class="badge ${dispute.status}">${dispute.status.replaceAll('_', ' ')}</span>${disputeActions(dispute)}</div>`;
}

function disputeActions(dispute: Dispute): Html | null {
  const decide = html`<button type="submit" name="action" value="win">Merchant wins</button>
<button class="danger" type="submit" name="action" value="lose">Merchant loses</button>`;
  const appeal = html`<button type="submit" name="action" value="appeal">Appeal</button>`;
  const buttons = isOpen(dispute) ? decide : dispute.status === 'lost' ? appeal : null;
  return (
    buttons &&
    html`<form method="post" class="actions"><input type="hidden" name="id" value="${dispute.id}">
${buttons}</form>`
  );
}

function checkouts(provider: Provider): Html | null {
  const open = provider.state.all('checkoutSessions').filter(({ status }) => status === 'open');
  if (open.length === 0) return null;
  const rows = open.reverse().slice(0, ROWS_MAX);
  return html`<section aria-labelledby="checkouts"><h2 id="checkouts">Open payment pages</h2>
<ul class="rows">${rows.map(
    (session) => html`<li class="row">
<div class="row-main"><strong class="money">${formatAmount(totalOf(session), session.currency)}</strong>
<a href="${pageUrl(session, provider.publicUrl)}">Open the payment page</a>
<span class="hint">expires ${formatTime(session.expiresAt)}</span></div>
<form method="post" class="actions"><input type="hidden" name="id" value="${session.id}"><button type="submit" name="action" value="expire">Expire now</button></form>
</li>`,
  )}</ul></section>`;
}

function deliveries(provider: Provider): Html {
  const rows = provider.state.all('deliveries').reverse().slice(0, ROWS_MAX);
  const list = html`<ul class="rows compact">${rows.map((delivery) => deliveryRow(delivery))}</ul>`;
  return html`<section aria-labelledby="deliveries"><h2 id="deliveries">Webhook deliveries</h2>
${rows.length === 0 ? html`<p class="empty">No event was sent yet.</p>` : list}</section>`;
}

function deliveryRow(delivery: Delivery): Html {
  const last = delivery.attempts.at(-1);
  const times = delivery.attempts.length === 1 ? 'once' : `${delivery.attempts.length} times`;
  const result =
    last === undefined ? 'not tried' : `tried ${times}, last answer ${last.status ?? last.error}`;
  return html`<li class="row">
<div class="row-main"><code>${delivery.type}</code> <span class="badge ${delivery.status}">${delivery.status}</span>
<span class="hint">${delivery.url} · ${result}</span></div>
<form method="post" class="actions"><input type="hidden" name="id" value="${delivery.id}"><button type="submit" name="action" value="redeliver">Send again<span class="hidden"> ${delivery.type}</span></button></form>
</li>`;
}

function problem(message: string): Reply {
  return renderNotice(422, 'That did not work', message, html`<a href="/">Back to the dashboard</a>`);
}
