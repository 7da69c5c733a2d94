/** The billing portal: a customer's receipts and saved cards. */

import { type Html, html } from '@boxoffice/pages/html';
import {
  attachPaymentMethod,
  createPaymentMethod,
  detachPaymentMethod,
  makeDefault,
  refusalToSave,
} from '../actions/save-payment-method.ts';
import type { Reply } from '../http/request.ts';
import type { Charge } from '../objects/charge.ts';
import type { Customer } from '../objects/customer.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';
import { PORTAL_SECONDS, type PortalSession } from '../objects/portal-session.ts';
import { now, type Provider, perform } from '../provider.ts';
import { cardChoices, readChoice } from './card-choices.ts';
import { formatAmount, formatExpiry, formatInstrument, formatTime } from './format.ts';
import { alert, redirect, renderNotice, renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

interface Visit {
  readonly session: PortalSession;
  readonly customer: Customer;
}

export function showPortal({ provider, names }: PageCall): Reply {
  const visit = findVisit(provider, names.token ?? '');
  return visit === undefined ? expired() : portalPage(provider, visit, { status: 200, message: null });
}

export function submitPortal({ provider, names, form }: PageCall): Reply {
  const visit = findVisit(provider, names.token ?? '');
  if (visit === undefined) return expired();
  switch (form.action) {
    case 'remove':
      return changeCard(provider, visit, form.card_id, (method) => detachPaymentMethod(provider, method));
    case 'default':
      return changeCard(provider, visit, form.card_id, ({ id }) =>
        makeDefault(provider, visit.customer.id, id),
      );
    case 'add':
      return addCard(provider, visit, form);
    default:
      return portalPage(provider, visit, { status: 422, message: 'Choose what to do.' });
  }
}

function findVisit(provider: Provider, token: string): Visit | undefined {
  const session = provider.state.all('portalSessions').find((candidate) => candidate.token === token);
  if (session === undefined || session.created + PORTAL_SECONDS <= now(provider)) return undefined;
  const customer = provider.state.get('customers', session.customer);
  return customer === undefined || customer.deleted ? undefined : { session, customer };
}

function changeCard(
  provider: Provider,
  visit: Visit,
  id: unknown,
  change: (method: PaymentMethod) => unknown,
): Reply {
  const method = cardsOf(provider, visit.customer).find((candidate) => candidate.id === id);
  if (method === undefined) {
    return portalPage(provider, visit, { status: 422, message: 'That card is no longer saved.' });
  }
  perform(provider, null, () => change(method));
  return redirect(`/p/session/${visit.session.token}`);
}

function addCard(provider: Provider, visit: Visit, form: PageCall['form']): Reply {
  const instrument = readChoice(form, ['card']);
  if (instrument === undefined) {
    return portalPage(provider, visit, { status: 422, message: 'Choose one of the test cards.' });
  }
  const refusal = refusalToSave(instrument);
  if (refusal !== null) {
    return portalPage(provider, visit, { status: 422, message: `${refusal} The card was not saved.` });
  }
  const replaced = cardsOf(provider, visit.customer).find(({ id }) => id === form.replace);
  perform(provider, null, () => {
    const method = createPaymentMethod(provider, instrument, { email: visit.customer.email });
    attachPaymentMethod(provider, method.id, visit.customer.id);
    makeDefault(provider, visit.customer.id, method.id);
    if (replaced !== undefined) detachPaymentMethod(provider, replaced);
  });
  return redirect(visit.session.flow?.completionUrl ?? `/p/session/${visit.session.token}`);
}

function portalPage(
  provider: Provider,
  { session, customer }: Visit,
  { status, message }: { status: number; message: string | null },
): Reply {
  const cards = cardsOf(provider, customer);
  const back =
    session.returnUrl === null
      ? null
      : html`<p><a href="${session.returnUrl}"><span aria-hidden="true">← </span>Back to ${provider.merchantName}</a></p>`;
  const body = html`<main>
${back}
<header><h1>${provider.merchantName} billing</h1><p class="hint">${customer.email ?? customer.name ?? customer.id}</p></header>
${alert(message)}
${session.flow === null ? null : html`<p class="note" role="status">Your card could not be charged, or needs replacing. Add a card below.</p>`}
<section aria-labelledby="cards"><h2 id="cards">Payment methods</h2>${cardList(customer, cards)}</section>
${addForm(cards, session.flow !== null)}
${session.flow === null ? receipts(provider, customer) : null}
</main>`;
  const leadsTo = [session.returnUrl, session.flow?.completionUrl ?? null];
  return renderPage({ title: `${provider.merchantName} billing`, body, layout: 'wide', status, leadsTo });
}

function cardList(customer: Customer, cards: PaymentMethod[]): Html {
  if (cards.length === 0) return html`<p class="empty">No card is saved.</p>`;
  return html`<ul class="rows">${cards.map((method) => {
    const isDefault = customer.defaultPaymentMethod === method.id;
    return html`<li class="row">
<span class="row-main"><strong>${formatInstrument(instrumentOf(method))}</strong> <span class="hint">${formatExpiry(method)}</span>${isDefault ? html` <span class="badge">Default</span>` : null}</span>
<form method="post" class="actions">
<input type="hidden" name="card_id" value="${method.id}">
${isDefault ? null : html`<button type="submit" name="action" value="default">Make default<span class="hidden"> ${formatInstrument(instrumentOf(method))}</span></button>`}
<button class="danger" type="submit" name="action" value="remove">Remove<span class="hidden"> ${formatInstrument(instrumentOf(method))}</span></button>
</form>
</li>`;
  })}</ul>`;
}

function addForm(cards: PaymentMethod[], open: boolean): Html {
  const replace =
    cards.length === 0
      ? null
      : html`<p class="field"><label for="replace">Saved cards</label>
<select id="replace" name="replace"><option value="">Keep them all</option>${cards.map(
          (method) =>
            html`<option value="${method.id}">Replace the one ending in ${instrumentOf(method).last4}</option>`,
        )}</select></p>`;
  return html`<details class="panel"${open || cards.length === 0 ? html` open` : null}>
<summary>Add or replace a card</summary>
<form method="post">
${cardChoices({ types: ['card'], legend: 'New card' })}
${replace}
<button class="primary" type="submit" name="action" value="add">Save card</button>
</form>
</details>`;
}

function receipts(provider: Provider, customer: Customer): Html {
  const charges = provider.state.all('charges').filter((charge) => charge.customer === customer.id);
  const rows = charges.reverse().map((charge) => receipt(charge));
  const table = html`<table>
<thead><tr><th scope="col">Date</th><th scope="col">Description</th><th scope="col">Card</th><th scope="col">Status</th><th scope="col" class="number">Amount</th><th scope="col" class="number">Refunded</th></tr></thead>
<tbody>${rows}</tbody>
</table>`;
  return html`<section aria-labelledby="receipts"><h2 id="receipts">Receipts</h2>
${rows.length === 0 ? html`<p class="empty">Nothing was paid yet.</p>` : table}
</section>`;
}

function receipt(charge: Charge): Html {
  const refunded = charge.amountRefunded === 0 ? '–' : formatAmount(charge.amountRefunded, charge.currency);
  return html`<tr>
<td data-label="Date">${formatTime(charge.created)}</td>
<td data-label="Description">${charge.description ?? 'Payment'}</td>
<td data-label="Card">${formatInstrument(instrumentOf(charge.paymentMethod))}</td>
<td data-label="Status"><span class="badge ${charge.disputed ? 'disputed' : charge.status}">${receiptStatus(charge)}</span></td>
<td data-label="Amount" class="number">${formatAmount(charge.amount, charge.currency)}</td>
<td data-label="Refunded" class="number">${refunded}</td>
</tr>`;
}

function receiptStatus({ status, disputed, amount, amountRefunded }: Charge): string {
  if (status === 'failed') return 'Declined';
  if (status === 'pending') return 'On its way';
  if (disputed) return 'Disputed';
  return amountRefunded === amount ? 'Refunded' : 'Paid';
}

function cardsOf(provider: Provider, customer: Customer): PaymentMethod[] {
  return provider.state.all('paymentMethods').filter((method) => method.customer === customer.id);
}

function expired(): Reply {
  return renderNotice(410, 'This link has expired', 'Go back and open the billing page again.');
}
