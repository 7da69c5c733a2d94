/** The pages behind `receipt_url` of a charge and `hosted_invoice_url` of an invoice. */

import { html } from '@boxoffice/pages/html';
import type { Reply } from '../http/request.ts';
import { totalOf } from '../objects/checkout-session.ts';
import { lineItem, taxLine } from './checkout-page.ts';
import { formatAmount, formatTime } from './format.ts';
import { renderNotice, renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

export function showReceipt({ provider, names }: PageCall): Reply {
  const charge = provider.state.get('charges', names.id ?? '');
  if (charge?.status !== 'succeeded') return renderNotice(404, 'Not found', 'There is no such receipt.');
  const title = `Receipt from ${provider.merchantName}`;
  const refunded = formatAmount(charge.amountRefunded, charge.currency);
  const body = html`<main>
<h1>${title}</h1>
<p>${formatAmount(charge.amount, charge.currency)} paid, ${formatTime(charge.created)}</p>
${charge.amountRefunded === 0 ? null : html`<p>${refunded} of it refunded</p>`}
<p class="hint"><code>${charge.id}</code></p>
</main>`;
  return renderPage({ title, body, layout: 'narrow' });
}

export function showInvoice({ provider, names }: PageCall): Reply {
  const invoice = provider.state.get('invoices', names.id ?? '');
  if (invoice === undefined) return renderNotice(404, 'Not found', 'There is no such invoice.');
  const { session } = invoice;
  const title = `Invoice ${invoice.number}`;
  const body = html`<main>
<h1>${title}</h1>
<p>${provider.merchantName} to ${invoice.customerName ?? invoice.customerEmail ?? 'the buyer'}${session.taxId ? `, tax ID ${session.taxId}` : null}</p>
<ul class="items">${session.lineItems.map((item) => lineItem(item, session.currency))}${taxLine(session)}</ul>
<p>${formatAmount(totalOf(session), session.currency)} paid, ${formatTime(invoice.created)}</p>
</main>`;
  return renderPage({ title, body, layout: 'narrow' });
}
