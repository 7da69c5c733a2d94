import { describe, expect, it } from 'vitest';
import { BUILT_IN_RATES, parseRateCard } from '../../../src/money/pricing/rate-card.ts';

function changed(change: (card: Record<string, unknown>) => void): unknown {
  const card = structuredClone(BUILT_IN_RATES) as unknown as Record<string, unknown>;
  change(card);
  return card;
}

describe('parseRateCard', () => {
  it('reads the built-in card in micros', () => {
    const card = parseRateCard(BUILT_IN_RATES);
    expect(card.currency).toBe('usd');
    expect(card.egressCostPerGib).toBe(10_000n);
    expect(card.markupBasisPoints).toBe(1500);
    expect(card.platformFeePerGib).toBe(20_000n);
    expect(card.ceilingPer1000Minutes).toEqual({
      host: {
        audio: 600_000n,
        hd: 1_500_000n,
        full_hd: 3_000_000n,
        '2k': 6_000_000n,
        '2k_plus': 12_000_000n,
      },
      audience: {
        audio: 300_000n,
        hd: 800_000n,
        full_hd: 1_600_000n,
        '2k': 3_200_000n,
        '2k_plus': 6_400_000n,
      },
      broadcast_audience: {
        audio: 150_000n,
        hd: 400_000n,
        full_hd: 800_000n,
        '2k': 1_600_000n,
        '2k_plus': 3_200_000n,
      },
    });
  });

  it.each([
    ['0', 0n],
    ['0.000001', 1n],
    ['1', 1_000_000n],
    ['1.5', 1_500_000n],
    ['007.10', 7_100_000n],
    ['999999.999999', 999_999_999_999n],
  ])('reads %s dollars', (dollars, micros) => {
    expect(parseRateCard(changed((card) => (card.platform_fee_per_gib = dollars))).platformFeePerGib).toBe(
      micros,
    );
  });

  it.each<[string, (card: Record<string, unknown>) => void]>([
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = 0.02)],
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = '-0.02')],
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = '0.0000001')],
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = '1e3')],
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = ' 1')],
    ['platform_fee_per_gib', (card) => (card.platform_fee_per_gib = '1\n')],
    ['egress_cost_per_gib', (card) => (card.egress_cost_per_gib = '')],
    ['currency', (card) => (card.currency = 'eur')],
    ['markup_basis_points', (card) => (card.markup_basis_points = -1)],
    ['markup_basis_points', (card) => (card.markup_basis_points = 1.5)],
    [
      'ceiling_per_1000_participant_minutes/host',
      (card) =>
        (card.ceiling_per_1000_participant_minutes = { host: {}, audience: {}, broadcast_audience: {} }),
    ],
    ['the rate card', (card) => delete card.platform_fee_per_gib],
    ['surprise is not a known field', (card) => (card.surprise = '1')],
  ])('names what is wrong: %s', (field, change) => {
    expect(() => parseRateCard(changed(change))).toThrow(
      new RegExp(`^${field} .*amounts are dollars in strings`),
    );
  });

  it.each([null, 1, 'card', []])('refuses %j', (card) => {
    expect(() => parseRateCard(card)).toThrow('the rate card');
  });
});
