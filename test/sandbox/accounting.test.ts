/** Tax, invoices, receipts, balance transactions and payouts. */
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { checkoutParams, clientOf, failureOf, postForm, postJson, start } from './support.ts';

const CARD = '4242424242424242';

let sandbox: Sandbox;
let stripe: Stripe;
let customer: string;

beforeAll(async () => {
  sandbox = await start({ merchantName: 'Rock & <Roll>' });
  stripe = clientOf(sandbox);
});
beforeEach(async () => {
  customer = (await stripe.customers.create({ email: 'ada@example.com', name: 'Ada' })).id;
});
afterAll(() => sandbox.close());

type Params = Stripe.Checkout.SessionCreateParams;

/** A session of $50 with tax. */
function taxed(more: Partial<Params> = {}, tax_behavior: 'exclusive' | 'inclusive' | null = 'exclusive') {
  const params = checkoutParams(customer);
  const [item] = params.line_items!;
  const price_data = { ...item!.price_data!, ...(tax_behavior && { tax_behavior }) };
  return {
    ...params,
    line_items: [{ ...item!, price_data }],
    automatic_tax: { enabled: true },
    customer_update: { address: 'auto', name: 'auto' },
    ...more,
  } satisfies Params;
}

const open = (params: Params) => stripe.checkout.sessions.create(params);
const reload = (id: string) => stripe.checkout.sessions.retrieve(id, { expand: ['line_items', 'invoice'] });

describe('tax', () => {
  test('is added once the buyer has told the address, and rounded to cents', async () => {
    const session = await open(taxed());
    expect(session).toMatchObject({
      amount_subtotal: 5000,
      amount_total: 5000,
      automatic_tax: { enabled: true, status: 'requires_location_inputs' },
      total_details: { amount_tax: 0 },
    });
    const intent = sandbox.control.pay(session.id, { card: CARD });
    // 8.25 % of 5000 are 412.5 cents.
    expect(intent).toMatchObject({ amount: 5413, amount_received: 5413 });
    const paid = await reload(session.id);
    expect(paid).toMatchObject({
      amount_subtotal: 5000,
      amount_total: 5413,
      automatic_tax: { enabled: true, status: 'complete', provider: 'stripe' },
      total_details: { amount_tax: 413 },
      customer_details: { address: { country: 'US' } },
    });
    expect(paid.line_items!.data).toMatchObject([
      { amount_subtotal: 5000, amount_tax: 413, amount_total: 5413 },
    ]);
  });

  test('is none in another country', async () => {
    const { id } = await open(taxed());
    expect(sandbox.control.pay(id, { card: CARD, country: 'CH' }).amount).toBe(5000);
    expect(await reload(id)).toMatchObject({
      amount_total: 5000,
      automatic_tax: { status: 'complete' },
      total_details: { amount_tax: 0 },
    });
  });

  test('is known at the start for a customer with an address from an earlier payment', async () => {
    sandbox.control.pay((await open(taxed())).id, { card: CARD });
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ address: { country: 'US' } });
    expect(await open(taxed({ customer_update: { name: 'auto' } }))).toMatchObject({ amount_total: 5413 });
  });

  test('follows the country of the attempt that succeeds', async () => {
    const { id } = await open(taxed());
    expect(sandbox.control.pay(id, { card: '4000000000000002' }).amount).toBe(5413);
    expect(sandbox.control.pay(id, { card: CARD, country: 'CH' })).toMatchObject({
      status: 'succeeded',
      amount: 5000,
      amount_received: 5000,
    });
  });

  test('is shown on the page, which asks for a tax ID where that is wanted', async () => {
    const { id } = await open(taxed({ tax_id_collection: { enabled: true } }));
    const page = `${sandbox.url}/c/pay/${id}`;
    const text = await (await fetch(page)).text();
    expect(text).toContain('$4.13');
    expect(text).toContain('Pay $54.13');
    await postForm(page, { card: CARD, tax_id: ' 12-3456789 ' });
    expect(await reload(id)).toMatchObject({
      payment_status: 'paid',
      amount_total: 5413,
      tax_id_collection: { enabled: true, required: 'never' },
      customer_details: { tax_ids: [{ type: 'us_ein', value: '12-3456789' }] },
    });
    expect(
      await (await fetch(`${sandbox.url}/c/pay/${(await open(checkoutParams(customer))).id}`)).text(),
    ).not.toMatch(/Tax/);
  });

  test.each<[string, () => Params, RegExp]>([
    [
      'of a customer without an address that the page may not save',
      () => taxed({ customer_update: { name: 'auto' } }),
      /valid address on the Customer/,
    ],
    ['on a price that includes it', () => taxed({}, 'inclusive'), /tax_behavior/],
    ['on a price that says nothing about it', () => taxed({}, null), /tax_behavior/],
    [
      'with a tax ID, but without leave to change the name',
      () => taxed({ tax_id_collection: { enabled: true }, customer_update: { address: 'auto' } }),
      /business name/,
    ],
    [
      'with changes of a customer that there is not',
      () => {
        const { customer: _, ...params } = taxed();
        return { ...params, customer_creation: 'always' };
      },
      /customer_update/,
    ],
  ])('is refused %s', async (_what, params, message) => {
    const error = await failureOf(open(params()));
    expect(error).toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError' });
    expect(error.message).toMatch(message);
  });
});

describe('invoices', () => {
  const invoice_creation = { enabled: true, invoice_data: { metadata: { order: '9' }, footer: 'Thanks' } };

  test('are made once the payment has succeeded', async () => {
    const session = await open(taxed({ invoice_creation }));
    expect(session).toMatchObject({ invoice: null, invoice_creation: { enabled: true } });
    sandbox.control.pay(session.id, { card: '4000000000000002' });
    expect((await reload(session.id)).invoice).toBeNull();
    sandbox.control.pay(session.id, { card: CARD });
    const { invoice } = await reload(session.id);
    expect(invoice).toMatchObject({
      object: 'invoice',
      status: 'paid',
      customer,
      customer_name: 'Ada',
      subtotal: 5000,
      total: 5413,
      amount_paid: 5413,
      total_excluding_tax: 5000,
      total_taxes: [{ amount: 413, tax_behavior: 'exclusive', taxable_amount: 5000 }],
      metadata: { order: '9' },
      footer: 'Thanks',
      lines: { data: [{ amount: 5000, description: 'Credit' }] },
    });
    const { id, hosted_invoice_url } = invoice as Stripe.Invoice;
    const events = (await stripe.events.list({ types: ['invoice.paid', 'checkout.session.completed'] })).data;
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
      'checkout.session.completed',
      'invoice.paid',
    ]);
    expect(events[0]!.data.object).toMatchObject({ invoice: id });
    const page = await (await fetch(hosted_invoice_url!)).text();
    expect(page).toContain('Rock &amp; &lt;Roll&gt; to Ada');
    expect(page).toContain('$54.13');
    expect((await stripe.invoices.list({ customer })).data.map((each) => each.id)).toEqual([id]);
    expect((await stripe.invoices.list({ customer, status: 'open' })).data).toEqual([]);
    expect(await stripe.invoices.retrieve(id!)).toMatchObject({ hosted_invoice_url });
  });

  test('of a bank debit are made when it has settled', async () => {
    const { id } = await open({ ...checkoutParams(customer), invoice_creation: { enabled: true } });
    const intent = sandbox.control.pay(id, { card: 'bank_debit_succeeds' });
    expect((await reload(id)).invoice).toBeNull();
    sandbox.control.settle(intent.id);
    expect((await reload(id)).invoice).toMatchObject({ total: 5000, total_taxes: [] });
  });

  test('are not made unless they are asked for', async () => {
    const { id } = await open(checkoutParams(customer));
    sandbox.control.pay(id, { card: CARD });
    expect(await reload(id)).toMatchObject({ invoice: null, invoice_creation: { enabled: false } });
  });

  test('have a page of their own only if they exist', async () => {
    expect((await fetch(`${sandbox.url}/invoices/in_nothing`)).status).toBe(404);
  });
});

test('a charge that succeeded has a receipt, which tells of refunds', async () => {
  const { id } = await open(checkoutParams(customer));
  const charge = async (intent: { latest_charge: unknown }) =>
    stripe.charges.retrieve(String(intent.latest_charge));
  const failed = sandbox.control.pay(id, { card: '4000000000000002' });
  expect((await charge(failed)).receipt_url).toBeNull();
  const paid = sandbox.control.pay(id, { card: CARD });
  const { receipt_url } = await charge(paid);
  expect(await (await fetch(receipt_url!)).text()).toContain('$50.00 paid');
  sandbox.control.refund(paid.id, { amount: 700 });
  expect(await (await fetch(receipt_url!)).text()).toContain('$7.00 of it refunded');
  expect((await fetch(`${sandbox.url}/receipts/ch_nothing`)).status).toBe(404);
});

describe('the balance', () => {
  const pay = async () => {
    const { id } = await open(checkoutParams(customer));
    return sandbox.control.pay(id, { card: CARD });
  };
  const transactionsOf = async (source: unknown) =>
    (await stripe.balanceTransactions.list({ source: String(source) })).data;

  test('gets payments less a fee, and loses refunds and disputes', async () => {
    const intent = await pay();
    expect(await transactionsOf(intent.latest_charge)).toMatchObject([
      {
        amount: 5000,
        fee: 175,
        net: 4825,
        type: 'charge',
        reporting_category: 'charge',
        status: 'available',
        fee_details: [{ amount: 175, type: 'stripe_fee' }],
      },
    ]);
    const refund = sandbox.control.refund(intent.id, { amount: 700 });
    expect(await transactionsOf(refund.id)).toMatchObject([{ amount: -700, fee: 0, type: 'refund' }]);
    const failed = sandbox.control.settleRefund(refund.id, 'failed');
    expect(await transactionsOf(refund.id)).toMatchObject([
      { amount: 700, type: 'refund_failure', id: failed.failure_balance_transaction },
      { amount: -700, type: 'refund', id: refund.balance_transaction },
    ]);
    const dispute = sandbox.control.dispute(intent.id);
    sandbox.control.winDispute(dispute.id, { amount: 2000 });
    expect(await transactionsOf(dispute.id)).toMatchObject([
      { amount: 2000, fee: 0, reporting_category: 'dispute_reversal', type: 'adjustment' },
      { amount: -5000, fee: 1500, net: -6500, reporting_category: 'dispute' },
    ]);
    const expanded = await stripe.charges.retrieve(String(intent.latest_charge), {
      expand: ['balance_transaction.source'],
    });
    expect(expanded.balance_transaction).toMatchObject({ net: 4825, source: { id: intent.latest_charge } });
  });

  test('does not change for a refund that waits for the customer, until it succeeds', async () => {
    const { id } = await pay();
    const refund = sandbox.control.refund(id, { outcome: 'requires_action' });
    expect(await transactionsOf(refund.id)).toEqual([]);
    expect(sandbox.control.settleRefund(refund.id, 'succeeded').balance_transaction).toMatch(/^txn_/);
    const other = sandbox.control.refund((await pay()).id, { outcome: 'requires_action' });
    sandbox.control.settleRefund(other.id, 'failed');
    expect(await transactionsOf(other.id)).toEqual([]);
  });

  test('is paid out, each transaction once', async () => {
    sandbox.control.payOut();
    const [one, two] = [await pay(), await pay()];
    const held = String(two.latest_charge);
    const payout = sandbox.control.payOut({ except: held });
    expect(payout).toMatchObject({
      amount: 4825,
      status: 'paid',
      automatic: true,
      reconciliation_status: 'completed',
    });
    const listed = await stripe.balanceTransactions.list({ payout: payout.id, expand: ['data.source'] });
    expect(listed.data).toMatchObject([
      { type: 'payout', amount: -4825, id: payout.balance_transaction },
      { type: 'charge', source: { object: 'charge', payment_intent: one.id } },
    ]);
    expect(sandbox.control.payOut()).toMatchObject({ amount: 4825 });
    expect(() => sandbox.control.payOut()).toThrow(/nothing to pay out/);
    expect(await stripe.payouts.retrieve(payout.id)).toMatchObject({ id: payout.id });
  });

  test('is paid out as it was at a time, and payouts are listed by arrival', async () => {
    await pay();
    const time = Math.floor(Date.now() / 1000);
    expect(() => sandbox.control.payOut({ created: time - 3600 })).toThrow(/nothing to pay out/);
    const { id } = sandbox.control.payOut({ arrivalDate: time + 86_400 });
    const arriving = await stripe.payouts.list({ arrival_date: { gt: time + 3600 } });
    expect(arriving.data.map((each) => each.id)).toEqual([id]);
    expect((await stripe.payouts.list({ created: { gt: time + 3600 } })).data).toEqual([]);
  });

  test('of a payout by hand is not told', async () => {
    await pay();
    const { id, reconciliation_status } = sandbox.control.payOut({ manual: true });
    expect(reconciliation_status).toBe('not_applicable');
    const error = await failureOf(stripe.balanceTransactions.list({ payout: id }));
    expect(error).toMatchObject({ statusCode: 400, param: 'payout' });
  });

  test('is paid out over HTTP', async () => {
    await pay();
    const response = await postJson(`${sandbox.url}/_sandbox/payouts`, { arrival_date: 86_400 });
    expect(await response.json()).toMatchObject({ object: 'payout', amount: 4825, arrival_date: 86_400 });
  });
});
