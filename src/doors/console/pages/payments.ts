/** `/console/payments`: what was paid, of a period and as CSV, and what was granted; receipts, invoices and the provider's portal. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { Failure } from '../../../base/failure.ts';
import type { Page } from '../../../base/lib/page.ts';
import { openPortal } from '../../../money/checkouts/open-portal.ts';
import { type ListedGrants, listGrants } from '../../../money/grants/list-grants.ts';
import { getBilling } from '../../../money/payments/get-billing.ts';
import { getReceipt } from '../../../money/payments/get-receipt.ts';
import { listPayments } from '../../../money/payments/list-payments.ts';
import { isPaymentId, type ListedPayment } from '../../../money/payments/payment.ts';
import { type Answer, page, redirect } from '../../consoles/answer.ts';
import {
  badge,
  emptyState,
  exact,
  type Faults,
  field,
  formId,
  freshNote,
  timeOf,
} from '../../consoles/components.ts';
import { csvLinks, separatorOf } from '../../consoles/csv-links.ts';
import { grantsTable } from '../../consoles/grants-table.ts';
import { KIND_NAMES } from '../../consoles/ledger-list.ts';
import { periodOf, queryOf } from '../../consoles/query.ts';
import { readOrFaults } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { streamItems } from '../../http/item-stream.ts';
import { noSuchPage } from '../../http/no-such-page.ts';
import { PAYMENT_COLUMNS, paymentStream } from '../../http/payment-list.ts';
import { mutationOf } from '../once-for-form.ts';
import type { SessionCall } from '../route.ts';
import { onTheirWay, payForm } from './pay.ts';

const PAGE_SIZE = 50;
const PATH = '/console/payments';
const FILTERS = ['from', 'to'] as const;

export async function showPayments({ deps, session, query }: SessionCall): Promise<Answer> {
  const after = query.get('after');
  const { value: period, faults } = readOrFaults(() => periodOf(query));
  if (faults)
    return page({ title: 'Payments', body: html`<h1>Payments</h1>${renderFilters(query, faults)}` }, 400);
  const listed =
    after === undefined || isPaymentId(after)
      ? await listPayments(deps.db, session.tenant, { ...period, after, size: PAGE_SIZE })
      : undefined;
  if (!listed) throw noSuchPage();
  const { settings } = await getBilling(deps.db, session.tenant);
  const grants = await listGrants(deps.db, session.tenant, undefined, PAGE_SIZE);
  const mayPay = mayDo(session.role, 'pay');
  const isCustomer = settings.firstPaidAt !== null && settings.customerId !== null;
  const hasPortal = mayPay && deps.provider !== undefined && isCustomer;
  const hasInvoices = deps.config.checkoutOptions.invoices;
  const documents = { hasProvider: deps.provider !== undefined, hasInvoices };
  const body = html`<h1>Payments</h1>
${await onTheirWay({ deps, session })}
${renderFilters(query, {})}
${renderListed(query, listed, documents)}
${grants && grants.items.length > 0 && renderGrants(grants)}
${hasPortal && portalCard(session.isFresh, freshNote(session, 'To open it', PATH))}
${mayPay && html`<section class="card"><h2>Pay in credit</h2>${payForm(deps, '20')}</section>`}`;
  return page({ title: 'Payments', body });
}

/** Every payment of the period, however many there are. */
export async function sendPayments({ deps, session, query }: SessionCall): Promise<Answer> {
  const chunks = await streamItems(deps, paymentStream(deps.db, session.tenant, periodOf(query)), {
    caller: session,
    columns: PAYMENT_COLUMNS,
    type: 'text/csv',
    separator: separatorOf(query),
  });
  return { kind: 'download', type: 'text/csv; charset=utf-8', chunks, saveAs: 'payments.csv' };
}

function renderFilters(query: Form, faults: Faults): Html {
  const day = (name: (typeof FILTERS)[number], label: string) =>
    field({ name, label, value: query.get(name), input: html`type="date"`, faults });
  return html`<form class="filters" method="get" action="${PATH}" novalidate>
${day('from', 'Credited from (UTC)')}
${day('to', 'Before (UTC)')}
<button>Filter</button></form>`;
}

function renderListed(query: Form, { items, end }: Page<ListedPayment>, documents: Documents): Html {
  const chosen = queryOf(query, FILTERS);
  if (items.length === 0) {
    return chosen === ''
      ? emptyState('Nothing was paid yet.', 'Each payment appears here as soon as it is credited.')
      : emptyState('No payment fits.', html`<a href="${PATH}">Show all payments</a>`);
  }
  return html`${renderPayments(items, documents)}
<p>${csvLinks(`${PATH}.csv${chosen}`, chosen === '' ? 'All payments' : 'All payments that fit')}</p>
<p class="pages">${query.has('after') && html`<a href="${PATH}${chosen}">Newest</a>`}${
    end && html`<a href="${PATH}${queryOf(query, FILTERS, { after: end.id })}" rel="next">Older payments</a>`
  }</p>`;
}

function renderGrants({ items, left, end }: ListedGrants): Html {
  return html`<h2>Granted credit</h2>
<p>${exact(left)} is left. Usage spends it before what you paid, the grant with the earliest end first.</p>
${grantsTable(items)}${end && html`<p class="hint">The newest ${items.length} grants.</p>`}`;
}

function portalCard(isFresh: boolean, note: Html | undefined): Html {
  return html`<section class="card"><h2>Cards and receipts</h2>
<p>The payment provider has a page of yours: saved cards, the address on invoices, and all receipts.</p>
${
  isFresh
    ? html`<form method="post" action="/console/payments/portal">${formId()}<p><button>Open the provider's page</button></p></form>`
    : note
}</section>`;
}

/** What the payment provider makes. */
interface Documents {
  readonly hasProvider: boolean;
  readonly hasInvoices: boolean;
}

function renderPayments(payments: readonly ListedPayment[], { hasProvider, hasInvoices }: Documents): Html {
  return table(
    'Payments, the newest first',
    ['Credited', 'Kind', 'Id', 'Credit', 'Tax', 'Taken back', hasProvider && 'Documents'],
    payments.map((each) => cellsOf(each, hasInvoices)),
    { numbers: ['Credit', 'Tax', 'Taken back'], names: 'Id' },
  );
}

function cellsOf(payment: ListedPayment, hasInvoices: boolean): HtmlValue[] {
  const { id, kind, credited, tax, reversed, settledAt } = payment;
  const at = `/console/payments/${encodeURIComponent(id)}`;
  const which = html`<span class="hidden"> of the payment ${id}</span>`;
  return [
    timeOf(settledAt),
    KIND_NAMES[kind],
    html`<code>${id}</code>`,
    exact(credited),
    tax === 0n ? '–' : exact(tax),
    reversed === 0n
      ? '–'
      : html`${exact(reversed)} ${badge(reversed === credited ? 'all' : 'in part', 'warn')}`,
    html`<span class="inline"><a href="${at}/receipt">Receipt${which}</a>${
      hasInvoices && kind === 'top_up' && html` <a href="${at}/invoice">Invoice${which}</a>`
    }</span>`,
  ];
}

/** The provider's links expire, so each click asks for a new one. */
export async function openReceipt({ deps, session, params }: SessionCall): Promise<Answer> {
  const { url } = await getReceipt(deps, session.tenant, params.id ?? '');
  return redirect(url);
}

export async function openInvoice({ deps, session, params }: SessionCall): Promise<Answer> {
  const { url, invoiceUrl } = await getReceipt(deps, session.tenant, params.id ?? '');
  if (invoiceUrl !== undefined) return redirect(invoiceUrl);
  const title = 'There is no invoice';
  const body = html`<h1>${title}</h1>
<p>The payment provider made none of this payment, or is still at it. The receipt is there.</p>
<p class="actions"><a class="button" href="${url}">Receipt</a> <a class="button" href="/console/payments">Back to the payments</a></p>`;
  return page({ title, body, layout: 'narrow' });
}

/** A page, not a redirect: see `submitCheckout()`. */
export async function submitPortal(call: SessionCall): Promise<Answer> {
  try {
    const url = await openPortal(call.deps, mutationOf(call));
    const title = 'To the payment provider';
    const body = html`<h1>${title}</h1>
<p><a class="button primary" href="${url}">Go to the provider's page</a></p>`;
    return page({ title, body, layout: 'narrow', goesTo: url });
  } catch (error) {
    // The card was removed, or nothing was ever paid: the page has no such form.
    if (error instanceof Failure && error.kind === 'invalid_request' && !error.field)
      return redirect('/console/payments');
    throw error;
  }
}
