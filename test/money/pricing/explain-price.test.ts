import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL_CARRY, type Rounding } from '../../../src/money/pricing/carry.ts';
import { explainPrice } from '../../../src/money/pricing/explain-price.ts';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import type { Role, Tier } from '../../../src/money/pricing/role.ts';
import { PRICE_DENOMINATOR } from '../../../src/money/pricing/usage-price.ts';
import { anyUsage, RATES, usage } from './support.ts';

const terms = (rounding: Rounding) => ({ rates: RATES, rule: CURRENT_RULE, rounding });
const CHEAPEST = { audio: 1n, hd: 1n, full_hd: 1n, '2k': 1n, '2k_plus': 1n };
const anyCarry = fc.bigInt(0n, PRICE_DENOMINATOR - 1n);

describe('explainPrice', () => {
  it('gives each step of a charge', () => {
    const one = usage({ role: 'host', tier: 'full_hd', seconds: 60, egressBytes: 30_000_000n });
    expect(explainPrice(one, terms('carry'), INITIAL_CARRY)).toEqual({
      rateVersion: 1,
      ruleVersion: 1,
      rounding: 'carry',
      egressBytes: 30_000_000n,
      egressGib: '0.027939677238',
      platformFeePerGib: 20_000n,
      fee: { numerator: 1_125_000_000_000_000n, decimal: '558.7935447692871' },
      seconds: 60,
      minutes: '1.000000',
      ceilingPer1000Minutes: 3_000_000n,
      ceiling: { numerator: 3_000n * PRICE_DENOMINATOR, decimal: '3000.000000' },
      capped: false,
      price: { numerator: 1_125_000_000_000_000n, decimal: '558.7935447692871' },
      carryBefore: { numerator: 1_006_632_960_000n, decimal: '0.500000' },
      amount: 559n,
      carryAfter: { numerator: 590_983_680_000n, decimal: '0.2935447692871' },
    });
  });

  it('gives ceilings and minutes that have no end rounded, with the exact numerator', () => {
    const one = usage({ role: 'audience', tier: 'audio', seconds: 1, egressBytes: 2n ** 40n });
    const { minutes, ceiling, capped, price } = explainPrice(one, terms('carry'), 0n);
    expect(minutes).toBe('0.016666666667');
    expect(ceiling.decimal).toBe('5.000000');
    expect([capped, price]).toEqual([true, ceiling]);
    const { ceilingPer1000Minutes } = RATES;
    const rates = { ...RATES, ceilingPer1000Minutes: { ...ceilingPer1000Minutes, audience: CHEAPEST } };
    const cheap = explainPrice({ ...one, seconds: 20 }, { ...terms('carry'), rates }, 0n);
    expect(cheap.ceiling).toEqual({ numerator: 20n * 2n ** 25n, decimal: '0.0003333333333' });
  });

  it('adds up: carry before + price = amount + carry after', () => {
    fc.assert(
      fc.property(anyUsage, anyCarry, (one, carry) => {
        const explained = explainPrice(one, terms('carry'), carry);
        expect(explained.carryBefore.numerator + explained.price.numerator).toBe(
          explained.amount * PRICE_DENOMINATOR + explained.carryAfter.numerator,
        );
      }),
    );
  });

  it('charges what the rule charges, with the lower of fee and ceiling, in both roundings', () => {
    fc.assert(
      fc.property(anyUsage, anyCarry, fc.constantFrom('carry', 'per_record'), (one, carry, rounding) => {
        const explained = explainPrice(one, terms(rounding), carry);
        const { numerator, capped } = CURRENT_RULE.price(one, RATES);
        const { fee, ceiling, price } = explained;
        expect(price.numerator).toBe(numerator);
        expect(explained.capped).toBe(capped);
        expect(price).toEqual(ceiling.numerator < fee.numerator ? ceiling : fee);
        expect(capped).toBe(ceiling.numerator < fee.numerator);
        const settled = CURRENT_RULE.settle(numerator, carry, rounding);
        expect([explained.amount, explained.carryAfter.numerator]).toEqual([settled.amount, settled.carry]);
      }),
    );
  });
});

describe('the example in docs/usage.md', () => {
  const rows = readExample();

  it('has three records', () => {
    expect(rows).toHaveLength(3);
  });

  it('is what the service charges a new tenant', () => {
    let carry = INITIAL_CARRY;
    for (const { usage: reported, shown } of rows) {
      const explained = explainPrice(reported, terms('carry'), carry);
      expect({
        fee: places(explained.fee.decimal, shown.fee),
        ceiling: places(explained.ceiling.decimal, shown.ceiling),
        price: places(explained.price.decimal, shown.price),
        carryBefore: places(explained.carryBefore.decimal, shown.carryBefore),
        charged: `${explained.amount}${explained.capped ? ', capped' : ''}`,
        carryAfter: places(explained.carryAfter.decimal, shown.carryAfter),
      }).toEqual(shown);
      carry = explained.carryAfter.numerator;
    }
  });
});

/** The table in "What a record costs", without separators of thousands. */
function readExample() {
  const text = readFileSync(new URL('../../../docs/usage.md', import.meta.url), 'utf8');
  const form = /^\| `(\w+)`, `(\w+)`, (\d+) s, ([\d,]+) bytes +\|(.*)\|$/gm;
  return [...text.matchAll(form)].map(([, role, tier, seconds, bytes, rest]) => {
    const [fee, ceiling, price, carryBefore, charged, carryAfter] = rest!
      .split('|')
      .map((cell) => cell.trim().replace(/(?<=\d),(?=\d)/g, ''));
    return {
      usage: {
        role: role as Role,
        tier: tier as Tier,
        seconds: Number(seconds),
        egressBytes: BigInt(bytes!.replaceAll(',', '')),
      },
      shown: { fee, ceiling, price, carryBefore, charged, carryAfter },
    };
  });
}

/** Rounded to as many decimals as the other has. */
function places(decimal: string, other: string | undefined): string {
  return Number(decimal).toFixed(other?.split('.')[1]?.length ?? 0);
}
