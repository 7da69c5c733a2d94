import { describe, expect, test } from 'vitest';
import { useService } from '../../support/service.ts';
import { amount, expectOk } from './support.ts';

const app = useService();

describe('GET /v1/rates', () => {
  describe('200', () => {
    test('shows the rate card without a key, exactly', async () => {
      const tiers = (...micros: number[]) =>
        Object.fromEntries(
          ['audio', 'hd', 'full_hd', '2k', '2k_plus'].map((tier, at) => [tier, amount(micros[at]!)]),
        );
      expect(expectOk(await app.request('GET', '/v1/rates'))).toStrictEqual({
        currency: 'usd',
        model: expect.stringMatching(/platform fee.*ceiling/),
        egress_cost_per_gib: amount(10_000),
        markup_basis_points: 1500,
        platform_fee_per_gib: amount(20_000),
        ceiling_per_1000_participant_minutes: {
          host: tiers(600_000, 1_500_000, 3_000_000, 6_000_000, 12_000_000),
          audience: tiers(300_000, 800_000, 1_600_000, 3_200_000, 6_400_000),
          broadcast_audience: tiers(150_000, 400_000, 800_000, 1_600_000, 3_200_000),
        },
      });
    });

    test.each(['', 'svc_', 'Basic x'])(
      'whatever the Authorization header says: %j',
      async (authorization) => {
        expectOk(await app.request('GET', '/v1/rates', { headers: { authorization } }));
      },
    );

    test('answers HEAD with the same headers and no body', async () => {
      const answer = await app.request('HEAD', '/v1/rates');
      expectOk(answer);
      expect(answer.text).toBe('');
    });
  });
});
