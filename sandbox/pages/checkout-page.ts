/** The hosted payment page of a checkout session. */

import { type Html, html } from '@boxoffice/pages/html';
import { payCheckout } from '../actions/checkout.ts';
import { ApiError } from '../http/errors.ts';
import type { FormValue } from '../http/form.ts';
import type { Reply } from '../http/request.ts';
import type { Instrument } from '../objects/cards.ts';
import { type CheckoutSession, fillTemplate, pageUrl, taxOf, totalOf } from '../objects/checkout-session.ts';
import { authenticationUrl } from '../objects/payment-intent.ts';
import { instrumentOf } from '../objects/payment-method.ts';
import { TAXED_COUNTRY } from '../objects/tax.ts';
import { type Provider, perform } from '../provider.ts';
import { cardChoices, readChoice } from './card-choices.ts';
import { formatAmount } from './format.ts';
import { alert, redirect, renderNotice, renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

export function showCheckout({ provider, names }: PageCall): Reply {
  const session = provider.state.get('checkoutSessions', names.id ?? '');
  if (session === undefined) return noSuchSession();
  if (session.status !== 'open') return closed(provider, session);
  return checkoutPage(provider, session, { status: 200, ...lastAttempt(provider, session) });
}

export function submitCheckout({ provider, names, form }: PageCall): Reply {
  const session = provider.state.get('checkoutSessions', names.id ?? '');
  if (session === undefined) return noSuchSession();
  // The second click of a double click finds the payment that the first one made.
  if (session.status === 'complete') return redirect(fillTemplate(session.successUrl, session));
  if (session.status === 'expired') return closed(provider, session);

  const instrument = readChoice(form, typesOf(session));
  if (instrument === undefined) {
    return checkoutPage(provider, session, { status: 422, message: 'Choose one of the test cards.' });
  }
  const email = readText(form.email, 512) ?? null;
  const taxId = readText(form.tax_id, 50);
  try {
    const { result: intent } = perform(provider, null, () =>
      payCheckout(provider, session, instrument, { email, taxId }),
    );
    if (intent.status === 'requires_action') return redirect(authenticationUrl(intent, provider.publicUrl));
    if (intent.lastError !== null) return redirect(pageUrl(session, provider.publicUrl));
    return redirect(fillTemplate(session.successUrl, session));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return checkoutPage(provider, session, { status: 422, message: error.message, chosen: instrument });
  }
}

function readText(value: FormValue | undefined, max: number): string | undefined {
  return (typeof value === 'string' && value.trim().slice(0, max)) || undefined;
}

function checkoutPage(
  provider: Provider,
  session: CheckoutSession,
  { status, message, chosen }: { status: number; message: string | null; chosen?: Instrument | undefined },
): Reply {
  // Buyers on this page live where there is tax, unless an earlier payment said otherwise.
  const shown = { ...session, country: session.country ?? TAXED_COUNTRY };
  const total = formatAmount(totalOf(shown), session.currency);
  const body = html`<main class="columns">
<section class="summary" aria-labelledby="heading">
<h1 id="heading"><span class="hint">Pay ${provider.merchantName}</span> <span class="amount">${total}</span></h1>
<ul class="items">${session.lineItems.map((item) => lineItem(item, session.currency))}${taxLine(shown)}</ul>
</section>
<section class="payment" aria-label="Payment">
${alert(message)}
<form method="post">
${session.customer === null ? emailField(session) : null}${session.taxIdCollection ? TAX_ID_FIELD : null}
${cardChoices({ types: typesOf(session), legend: 'Pay with a test card', chosen })}
<button class="primary" type="submit">Pay ${total}</button>
</form>
${session.cancelUrl === null ? null : html`<p class="cancel"><a href="${fillTemplate(session.cancelUrl, session)}">Cancel and go back to ${provider.merchantName}</a></p>`}
</section>
</main>`;
  const leadsTo = [session.successUrl, session.cancelUrl];
  return renderPage({ title: `Pay ${provider.merchantName}`, body, layout: 'checkout', status, leadsTo });
}

export function lineItem(item: CheckoutSession['lineItems'][number], currency: string): Html {
  const quantity = item.quantity === 1 ? '' : `${item.quantity} × `;
  return html`<li>
<span class="item-name">${quantity}${item.name}${item.description === null ? null : html`<span class="hint">${item.description}</span>`}</span>
<span class="item-amount">${formatAmount(item.unitAmount * item.quantity, currency)}</span>
</li>`;
}

export function taxLine(session: CheckoutSession): Html | null {
  if (!session.automaticTax) return null;
  return html`<li><span class="item-name">Tax</span><span class="item-amount">${formatAmount(taxOf(session), session.currency)}</span></li>`;
}

const TAX_ID_FIELD = html`<p class="field">
<label for="tax_id">Tax ID (optional)</label>
<input id="tax_id" name="tax_id" autocomplete="off" maxlength="50">
</p>`;

function emailField({ customerEmail }: CheckoutSession): Html {
  return html`<p class="field">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="email" required value="${customerEmail ?? ''}">
</p>`;
}

function closed(provider: Provider, session: CheckoutSession): Reply {
  if (session.status === 'expired') {
    const text = 'This payment page has expired and nothing was paid. Go back and start again.';
    const { cancelUrl } = session;
    const link =
      cancelUrl === null
        ? null
        : html`<a href="${fillTemplate(cancelUrl, session)}">Back to ${provider.merchantName}</a>`;
    return renderNotice(410, 'This page has expired', text, link);
  }
  const text =
    session.paymentStatus === 'paid'
      ? `Your payment of ${formatAmount(totalOf(session), session.currency)} is complete.`
      : 'Your payment is on its way. The bank needs some time to settle it.';
  const back = html`<a href="${fillTemplate(session.successUrl, session)}">Continue to ${provider.merchantName}</a>`;
  return renderNotice(200, 'All done', text, back);
}

function noSuchSession(): Reply {
  return renderNotice(404, 'Not found', 'There is no such payment page. Check the link, or start again.');
}

function typesOf(session: CheckoutSession): readonly string[] {
  return session.allowedTypes ?? ['card', 'us_bank_account'];
}

/** What to say about a failed attempt, and what was chosen for it. */
function lastAttempt(
  provider: Provider,
  session: CheckoutSession,
): { message: string | null; chosen?: Instrument } {
  const intent = provider.state.get('paymentIntents', session.paymentIntent ?? '');
  const error = intent?.lastError ?? null;
  if (error === null) return { message: null };
  const message = `${error.decline.message} You can choose another card.`;
  return { message, chosen: instrumentOf(error.paymentMethod) };
}
