/** The page on which a bank asks the buyer to confirm a payment ("3D Secure"). */

import { html } from '@boxoffice/pages/html';
import { authenticatePayment } from '../actions/checkout.ts';
import type { Reply } from '../http/request.ts';
import { fillTemplate, pageUrl } from '../objects/checkout-session.ts';
import type { PaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf } from '../objects/payment-method.ts';
import { type Provider, perform } from '../provider.ts';
import { formatAmount, formatInstrument } from './format.ts';
import { redirect, renderNotice, renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

export function showAuthentication({ provider, names }: PageCall): Reply {
  const intent = provider.state.get('paymentIntents', names.id ?? '');
  if (intent === undefined) return renderNotice(404, 'Not found', 'There is no such payment.');
  if (intent.status !== 'requires_action') return afterwards(provider, intent);

  const method = provider.state.get('paymentMethods', intent.paymentMethod ?? '');
  const amount = formatAmount(intent.amount, intent.currency);
  const body = html`<main class="card">
<p class="merchant">Test bank</p>
<h1>Confirm your payment</h1>
<p>${provider.merchantName} asks for <strong>${amount}</strong>${
    method === undefined ? null : html` from ${formatInstrument(instrumentOf(method))}`
  }. With a real card, the bank would now check that it is you (3D Secure).</p>
<form method="post" class="actions">
<button class="primary" type="submit" name="answer" value="complete">Complete authentication</button>
<button type="submit" name="answer" value="fail">Fail authentication</button>
</form>
</main>`;
  const leadsTo = [destination(provider, intent), intent.returnUrl];
  return renderPage({ title: 'Confirm your payment', body, layout: 'narrow', leadsTo });
}

export function submitAuthentication({ provider, names, form }: PageCall): Reply {
  const intent = provider.state.get('paymentIntents', names.id ?? '');
  if (intent === undefined) return renderNotice(404, 'Not found', 'There is no such payment.');
  if (intent.status !== 'requires_action') return afterwards(provider, intent);
  const confirmed = form.answer === 'complete';
  return afterwards(
    provider,
    perform(provider, null, () => authenticatePayment(provider, intent.id, confirmed)).result,
  );
}

/** Back to the payment page if another card is needed, otherwise to the merchant's return URL. */
function afterwards(provider: Provider, intent: PaymentIntent): Reply {
  const session = provider.state.get('checkoutSessions', intent.checkoutSession ?? '');
  if (session !== undefined) {
    const paid = session.status === 'complete';
    return redirect(paid ? fillTemplate(session.successUrl, session) : pageUrl(session, provider.publicUrl));
  }
  if (intent.returnUrl !== null) {
    const url = new URL(intent.returnUrl);
    url.searchParams.set('payment_intent', intent.id);
    url.searchParams.set('redirect_status', intent.status === 'succeeded' ? 'succeeded' : 'failed');
    return redirect(url.href);
  }
  const text = intent.status === 'succeeded' ? 'The payment is complete.' : 'The payment was not confirmed.';
  return renderNotice(200, 'All done', `${text} You can close this page.`);
}

function destination(provider: Provider, intent: PaymentIntent): string | null {
  return provider.state.get('checkoutSessions', intent.checkoutSession ?? '')?.successUrl ?? null;
}
