/** Objects have the fields that the client's types promise, with values of their kinds. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { checkoutParams, clientOf, start } from './support.ts';

const RESOURCES = join(dirname(createRequire(import.meta.url).resolve('stripe')), '..', 'esm', 'resources');

/** The fields of an interface: their types, and whether they may be absent. */
function fieldsOf(file: string, name: string): Map<string, { type: string; isOptional: boolean }> {
  const text = readFileSync(join(RESOURCES, file), 'utf8');
  const [, body = ''] = new RegExp(`\\nexport interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(text) ?? [];
  const fields = [...body.matchAll(/^ {4}(\w+)(\??): (.*);$/gm)];
  return new Map(fields.map(([, field, mark, type]) => [field!, { type: type!, isOptional: mark === '?' }]));
}

/** Whether a value may have a type of the declarations; of objects, only that they are objects. */
function fits(value: unknown, type: string): boolean {
  if (value === null) return type.split(' | ').includes('null');
  if (Array.isArray(value)) return type.startsWith('Array<');
  if (typeof value === 'object') return /\b[A-Z]\w*/.test(type);
  const literal = typeof value === 'string' ? `'${value}'` : String(value);
  return type.split(' | ').some((each) => each === typeof value || each === literal || isAlias(each));
}

/** Enumerations and decimals have names; unions of objects do not matter here. */
const isAlias = (type: string) => /^[A-Z]\w*(\.[A-Z]\w*)*$/.test(type);

let sandbox: Sandbox;
const objects: Record<string, object> = {};

beforeAll(async () => {
  sandbox = await start();
  const stripe: Stripe = clientOf(sandbox);
  const { id: customer } = await stripe.customers.create({ email: 'ada@example.com' });
  const params = checkoutParams(customer);
  params.line_items![0]!.price_data!.tax_behavior = 'exclusive';
  const { id } = await stripe.checkout.sessions.create({
    ...params,
    automatic_tax: { enabled: true },
    tax_id_collection: { enabled: true },
    customer_update: { address: 'auto', name: 'auto' },
    invoice_creation: { enabled: true },
  });
  const intent = sandbox.control.pay(id, { card: '4242424242424242', taxId: '12-3456789' });
  const session = await stripe.checkout.sessions.retrieve(id, { expand: ['invoice', 'line_items'] });
  objects.session = session;
  objects.item = session.line_items!.data[0]!;
  objects.invoice = session.invoice as Stripe.Invoice;
  objects.invoiceLine = (session.invoice as Stripe.Invoice).lines.data[0]!;
  objects.charge = await stripe.charges.retrieve(String(intent.latest_charge));
  objects.refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 100 });
  objects.payout = sandbox.control.payOut();
  objects.transaction = (await stripe.balanceTransactions.list()).data[0]!;
});
afterAll(() => sandbox.close());

describe.each([
  ['session', 'Checkout/Sessions.d.ts', 'Session'],
  ['item', 'LineItems.d.ts', 'LineItem'],
  ['invoice', 'Invoices.d.ts', 'Invoice'],
  ['invoiceLine', 'InvoiceLineItems.d.ts', 'InvoiceLineItem'],
  ['charge', 'Charges.d.ts', 'Charge'],
  ['refund', 'Refunds.d.ts', 'Refund'],
  ['payout', 'Payouts.d.ts', 'Payout'],
  ['transaction', 'BalanceTransactions.d.ts', 'BalanceTransaction'],
])('%s', (object, file, name) => {
  const declared = fieldsOf(file, name);

  test('has every field that the client promises', () => {
    expect(declared.size).toBeGreaterThan(10);
    const required = [...declared].filter(([, { isOptional }]) => !isOptional).map(([field]) => field);
    expect(required.filter((field) => !(field in objects[object]!))).toEqual([]);
  });

  test('has no others, and values of the promised kinds', () => {
    const wrong = Object.entries(objects[object]!)
      .filter(([field]) => field !== 'lastResponse')
      .filter(([field, value]) => !fits(value, declared.get(field)?.type ?? 'never'));
    expect(wrong).toEqual([]);
  });
});
