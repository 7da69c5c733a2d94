import { expect, test } from 'vitest';
import { renderSmallChart } from '../../../src/doors/console/pages/chart.ts';

/** The texts of the axis, and of the bar. */
function textsOf(amount: bigint): readonly string[] {
  const page = renderSmallChart({ label: 'Spend', bars: ['2026-11-01'], amounts: [amount] }).text;
  return [...page.matchAll(/\$[\d,.]+/g)].map(([text]) => text);
}

test.each([
  [25_655n, ['$0.05', '$0.025', '$0.025655']],
  [500n, ['$0.01', '$0.005', '$0.000500']],
  [1_500_000n, ['$2', '$1', '$1.50']],
  [2_500_000_000n, ['$5,000', '$2,500', '$2,500.00']],
])('%s micros are shown as they are', (amount, texts) => {
  for (const text of texts) expect(textsOf(amount)).toContain(text);
});
