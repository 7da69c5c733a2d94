import fc from 'fast-check';
import type Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { readDispute, readRefund, reversedCredit } from '../../../src/money/reversals/reversal.ts';

/** `[amount, currency, exchange rate]` of its balance transactions. */
function disputeOf(status: string, movements: [number, string?, number?][] = []): Stripe.Dispute {
  return {
    id: 'du_1',
    amount: 2000,
    currency: 'usd',
    payment_intent: 'pi_1',
    reason: 'fraudulent',
    status,
    balance_transactions: movements.map(([amount, currency = 'usd', rate = null]) => ({
      amount,
      currency,
      exchange_rate: rate,
      fee: 1500,
      net: amount - 1500,
    })),
  } as unknown as Stripe.Dispute;
}

describe('a dispute', () => {
  it.each<[string, [number, string?, number?][], { withdrawn: bigint; reinstated: bigint }]>([
    ['nothing yet', [], { withdrawn: 0n, reinstated: 0n }],
    ['a withdrawal, without its fee', [[-2000]], { withdrawn: 20_000_000n, reinstated: 0n }],
    ['a part that came back', [[-2000], [700]], { withdrawn: 20_000_000n, reinstated: 7_000_000n }],
    [
      'several of each',
      [[-2000], [2000], [-1500], [400]],
      { withdrawn: 35_000_000n, reinstated: 24_000_000n },
    ],
    [
      'euros, by the exchange rate of each transaction',
      [
        [-1850, 'eur', 0.925],
        [651, 'eur', 0.93],
      ],
      { withdrawn: 20_000_000n, reinstated: 7_000_000n },
    ],
    [
      'the whole amount, although the rate is rounded',
      [
        [-1849, 'eur', 0.925],
        [1851, 'eur', 0.925],
      ],
      { withdrawn: 20_000_000n, reinstated: 20_000_000n },
    ],
  ])('counts %s', (_, movements, sums) => {
    expect(readDispute(disputeOf('needs_response', movements))).toEqual({
      id: 'du_1',
      paymentId: 'pi_1',
      amount: 20_000_000n,
      movements: movements.length,
      outcome: null,
      reason: 'fraudulent',
      inquiry: false,
      ...sums,
    });
  });

  it.each([
    ['needs_response', null],
    ['under_review', null],
    ['warning_needs_response', null],
    ['warning_under_review', null],
    ['appeal_needs_response', null],
    ['appeal_under_review', null],
    ['a_status_of_next_year', null],
    ['warning_closed', 'closed'],
    ['prevented', 'closed'],
    ['lost', 'lost'],
    ['won', 'won'],
  ])('that is %s has the outcome %s', (status, outcome) => {
    expect(readDispute(disputeOf(status)).outcome).toBe(outcome);
  });

  it.each([
    ['needs_response', false],
    ['warning_needs_response', true],
    ['warning_closed', true],
    ['lost', false],
  ])('that is %s is an inquiry: %s', (status, inquiry) => {
    expect(readDispute(disputeOf(status)).inquiry).toBe(inquiry);
  });
});

it('a refund names its payment, expanded or not, and may have no status yet', () => {
  const refund = {
    id: 're_1',
    amount: 500,
    payment_intent: 'pi_1',
    status: null,
  } as unknown as Stripe.Refund;
  const read = { id: 're_1', paymentId: 'pi_1', amount: 5_000_000n, status: 'pending' };
  expect(readRefund(refund)).toEqual(read);
  expect(readRefund({ ...refund, payment_intent: { id: 'pi_1' } as never })).toEqual(read);
  expect(readRefund({ ...refund, payment_intent: null }).paymentId).toBeUndefined();
});

describe('the credit to take back', () => {
  it.each([
    { credited: 20n, tax: 0n, takenBack: 0n, expected: 0n },
    { credited: 20n, tax: 0n, takenBack: 7n, expected: 7n },
    { credited: 20n, tax: 0n, takenBack: 21n, expected: 20n },
    { credited: 20n, tax: 4n, takenBack: 12n, expected: 10n },
    { credited: 20n, tax: 4n, takenBack: 23n, expected: 19n },
    { credited: 20n, tax: 4n, takenBack: 24n, expected: 20n },
    { credited: 20n, tax: 4n, takenBack: 25n, expected: 20n },
  ])(
    'is $expected of $credited, with tax of $tax, when $takenBack was taken back',
    ({ expected, ...given }) => {
      expect(reversedCredit(given, given.takenBack)).toBe(expected);
    },
  );

  const micros = fc.bigInt({ min: 1n, max: 10n ** 12n });

  it('never falls while more is taken back, and is all of the credit exactly at the end', () => {
    fc.assert(
      fc.property(micros, micros, micros, micros, (credited, tax, one, other) => {
        const payment = { credited, tax };
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(reversedCredit(payment, less)).toBeLessThanOrEqual(reversedCredit(payment, more));
        expect(reversedCredit(payment, credited + tax)).toBe(credited);
        expect(reversedCredit(payment, credited + tax - 1n)).toBeLessThan(credited);
      }),
    );
  });

  it('is less than a micro away from the share, and without tax the amount itself', () => {
    fc.assert(
      fc.property(micros, micros, micros, (credited, tax, taken) => {
        fc.pre(taken <= credited);
        const share = reversedCredit({ credited, tax }, taken) * (credited + tax);
        expect(share <= taken * credited && taken * credited < share + credited + tax).toBe(true);
        expect(reversedCredit({ credited, tax: 0n }, taken)).toBe(taken);
      }),
    );
  });
});
