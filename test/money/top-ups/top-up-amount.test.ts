import { describe, expect, it } from 'vitest';
import { CENTS_SAFE_MAX, parseAutoTopUp } from '../../../src/money/top-ups/top-up-amount.ts';

describe('parseAutoTopUp', () => {
  it('converts both amounts from cents to micros', () => {
    expect(parseAutoTopUp({ enabled: true, below_cents: 0, amount_cents: 1_000 })).toEqual({
      enabled: true,
      below: 0n,
      amount: 10_000_000n,
    });
  });

  it.each([
    [{ amount_cents: 1_000 }, 'below_cents is required'],
    [{ below_cents: 0 }, 'amount_cents is required'],
    [{ below_cents: 0, amount_cents: 999 }, 'amount_cents must be >= 1000'],
    [{ below_cents: 0, amount_cents: 1_000_001 }, 'amount_cents must be <= 1000000'],
  ])('refuses %j while enabled', (given, message) => {
    expect(() => parseAutoTopUp({ enabled: true, ...given })).toThrow(`invalid request: ${message}`);
  });

  it('keeps omitted values and accepts any amount while not enabled', () => {
    expect(parseAutoTopUp({ enabled: false })).toEqual({ enabled: false, below: null, amount: null });
    expect(parseAutoTopUp({ enabled: false, amount_cents: 1 }).amount).toBe(10_000n);
  });

  it('limits amounts to micros that are safe integers', () => {
    const { below } = parseAutoTopUp({ enabled: true, below_cents: CENTS_SAFE_MAX, amount_cents: 1_000 });
    expect(Number.isSafeInteger(Number(below))).toBe(true);
    expect(Number.isSafeInteger(Number(below! + 10_000n))).toBe(false);
  });
});
