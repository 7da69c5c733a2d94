import type Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { isBookedAs, isReturned, readMovement, sumTransactions } from '../../../src/money/reports/payout.ts';

let transactions = 0;

function transactionOf(fields: Partial<Stripe.BalanceTransaction>): Stripe.BalanceTransaction {
  transactions += 1;
  const { amount = 0, fee = 0 } = fields;
  return {
    id: `txn_${transactions}`,
    currency: 'usd',
    type: 'charge',
    reporting_category: 'charge',
    source: 'ch_1',
    created: 1_790_000_000,
    available_on: 1_790_172_800,
    net: amount - fee,
    amount,
    fee,
    ...fields,
  } as Stripe.BalanceTransaction;
}

const CHARGE = { object: 'charge', id: 'ch_1', payment_intent: 'pi_1', amount: 5000, currency: 'usd' };
const REFUND = { object: 'refund', id: 're_1', amount: 700, currency: 'usd' };
const source = (object: object) => object as Stripe.BalanceTransaction['source'];

describe('the movement of', () => {
  it('a charge is that of its payment', () => {
    expect(readMovement(transactionOf({ amount: 5000, fee: 175, source: source(CHARGE) }))).toEqual({
      transaction: expect.stringMatching(/^txn_/),
      kind: 'payment',
      id: 'pi_1',
      amount: 50_000_000n,
      currency: 'usd',
      net: 4825,
      createdAt: new Date(1_790_000_000_000),
      availableAt: new Date(1_790_172_800_000),
    });
  });

  it.each([
    ['refund', -700, -7_000_000n],
    ['refund_failure', 700, 7_000_000n],
  ])('a %s has the sign of the transaction', (reporting_category, amount, expected) => {
    const movement = readMovement(transactionOf({ reporting_category, amount, source: source(REFUND) }));
    expect(movement).toMatchObject({ kind: 'refund', id: 're_1', amount: expected });
  });

  it.each([
    ['dispute', -5000],
    ['dispute_reversal', 2000],
  ])('a %s has the amount of the transaction', (reporting_category, amount) => {
    const dispute = source({ object: 'dispute', id: 'du_1', amount: 5000, currency: 'usd' });
    expect(readMovement(transactionOf({ reporting_category, amount, source: dispute }))).toMatchObject({
      kind: 'dispute',
      id: 'du_1',
      amount: BigInt(amount) * 10_000n,
    });
  });

  it('an account in euros has the dollars of charges and refunds, and none of disputes', () => {
    const euros = { currency: 'eur', exchange_rate: 0.9 };
    expect(readMovement(transactionOf({ ...euros, amount: 4500, source: source(CHARGE) }))?.amount).toBe(
      50_000_000n,
    );
    const refund = { reporting_category: 'refund', source: source(REFUND) };
    expect(readMovement(transactionOf({ ...euros, ...refund, amount: -630 }))?.amount).toBe(-7_000_000n);
    const dispute = { reporting_category: 'dispute', source: 'du_1' };
    expect(readMovement(transactionOf({ ...euros, ...dispute, amount: -4500 }))?.amount).toBeUndefined();
  });

  it('a payment in euros has no amount to compare', () => {
    const charge = source({ ...CHARGE, currency: 'eur' });
    expect(readMovement(transactionOf({ currency: 'eur', source: charge }))?.amount).toBeUndefined();
  });

  it.each(['fee', 'payout', 'payout_reversal', 'topup'])('a %s is none of ours', (reporting_category) => {
    expect(readMovement(transactionOf({ reporting_category }))).toBeUndefined();
  });
});

it('the sums of a payout add up to its net', () => {
  const sums = sumTransactions([
    transactionOf({ amount: 5000, fee: 175 }),
    transactionOf({ amount: 3000, fee: 117, type: 'payment' }),
    transactionOf({ amount: -700, reporting_category: 'refund', type: 'refund' }),
    transactionOf({ amount: 100, reporting_category: 'refund_failure', type: 'refund_failure' }),
    transactionOf({ amount: -3000, fee: 1500, reporting_category: 'dispute', type: 'adjustment' }),
    transactionOf({ amount: 1000, reporting_category: 'dispute_reversal', type: 'adjustment' }),
    transactionOf({ amount: -40, reporting_category: 'fee', type: 'stripe_fee' }),
    transactionOf({ amount: -2, reporting_category: 'tax', type: 'tax_fee' }),
    transactionOf({ amount: 900, reporting_category: 'payout_reversal', type: 'payout_failure' }),
  ]);
  const { gross, reversed, fees, other, net } = sums;
  expect(sums).toEqual({ gross: 8000, reversed: -2600, fees: -1834, other: 900, net: 4466 });
  expect(gross + reversed + fees + other).toBe(net);
  expect(sumTransactions([])).toEqual({ gross: 0, reversed: 0, fees: 0, other: 0, net: 0 });
});

describe('a movement is booked', () => {
  it.each([
    ['payment', 20n, { added: 20n, removed: 0n }, true],
    ['payment', 20n, { added: 21n, removed: 0n }, false],
    ['payment', 20n, { added: 19n, removed: 0n }, false],
    ['refund', -7n, { added: 7n, removed: 7n }, true],
    ['refund', -7n, { added: 8n, removed: 8n }, false],
    ['refund', 7n, { added: 7n, removed: 7n }, true],
    ['dispute', -20n, { added: 0n, removed: 20n }, true],
    ['dispute', -20n, { added: 0n, removed: 35n }, true],
    ['dispute', -20n, { added: 0n, removed: 19n }, false],
    ['dispute', 7n, { added: 7n, removed: 20n }, true],
    ['dispute', 7n, { added: 6n, removed: 20n }, false],
    ['dispute', undefined, { added: 0n, removed: 0n }, true],
  ] as const)('%s of %s as %o: %s', (kind, amount, booked, expected) => {
    expect(isBookedAs({ kind, amount }, booked)).toBe(expected);
  });
});

it.each([
  ['paid', false],
  ['in_transit', false],
  ['failed', true],
  ['canceled', true],
])('a payout that is %s came back: %s', (status, expected) => {
  expect(isReturned({ status })).toBe(expected);
});
