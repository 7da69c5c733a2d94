import { describe, expect, it } from 'vitest';
import { renderOptions, taxBehavior } from '../../../src/money/checkouts/checkout-options.ts';

const NONE = { tax: false, taxIds: false, invoices: false };
const METADATA = { tenant: 't_1', checkout: 'co_1' };
const UPDATE = { customer_update: { address: 'auto', name: 'auto' } };

describe('options of a payment page', () => {
  it('are absent unless they are asked for', () => {
    expect(renderOptions(NONE, METADATA)).toStrictEqual({});
    expect(taxBehavior(NONE)).toStrictEqual({});
  });

  it('put tax on top of the price', () => {
    expect(renderOptions({ ...NONE, tax: true }, METADATA)).toStrictEqual({
      automatic_tax: { enabled: true },
      ...UPDATE,
    });
    expect(taxBehavior({ ...NONE, tax: true })).toStrictEqual({ tax_behavior: 'exclusive' });
  });

  it('ask for tax ids, also without tax', () => {
    expect(renderOptions({ ...NONE, taxIds: true }, METADATA)).toStrictEqual({
      tax_id_collection: { enabled: true },
      ...UPDATE,
    });
  });

  it('make invoices that name the tenant and the checkout', () => {
    expect(renderOptions({ ...NONE, invoices: true }, METADATA)).toStrictEqual({
      invoice_creation: { enabled: true, invoice_data: { metadata: METADATA } },
    });
  });
});
