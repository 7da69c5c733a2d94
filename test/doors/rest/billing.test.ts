import { beforeAll, describe, expect, test } from 'vitest';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeUsage } from '../../../src/money/usage/charge-usage.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, limitedCaller } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { amount, expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let paid: TestTenant;

beforeAll(async () => {
  paid = await app.paidTenant({ cents: 2000 });
});

const show = (key: string) => app.request('GET', '/v1/billing', { key });

describe('GET /v1/billing', () => {
  describe('200', () => {
    test('shows a new tenant: pending, without credit, not admitted', async () => {
      const fresh = await app.signUp({ name: 'Zoë 😀', email: 'zoe@example.com' });
      expect(expectOk(await show(fresh.key))).toStrictEqual({
        tenant: {
          id: fresh.id,
          name: 'Zoë 😀',
          email: 'zoe@example.com',
          status: 'pending',
          has_card: false,
          auto_top_up: { enabled: false, below: amount(0), amount: amount(0) },
          created_at: expect.stringMatching(TIMESTAMP),
        },
        balance: amount(0),
        admitted: false,
        recent: [],
      });
    });

    test('shows a tenant that paid: active, with a card, credit and its entry', async () => {
      expect(expectOk(await show(paid.key))).toStrictEqual({
        tenant: {
          id: paid.id,
          name: 'Ada Video',
          email: 'ada@example.com',
          status: 'active',
          has_card: true,
          auto_top_up: { enabled: false, below: amount(0), amount: amount(0) },
          created_at: expect.stringMatching(TIMESTAMP),
        },
        balance: amount(20_000_000),
        admitted: true,
        recent: [
          {
            kind: 'top_up',
            amount: amount(20_000_000),
            capped: false,
            reference: expect.any(String),
            at: expect.stringMatching(TIMESTAMP),
          },
        ],
      });
    });

    test('shows 50 entries at most, newest first, and a balance below zero', async () => {
      const fresh = await app.signUp();
      const report = (from: number, count: number) =>
        app.request('POST', '/v1/usage', {
          key: fresh.relayKey,
          body: {
            records: Array.from({ length: count }, (_, at) => usageRecord({ room: `room ${from + at}` })),
          },
        });
      const rooms = async () =>
        expectOk(await show(fresh.key)).recent.map((entry: { reference: string }) => entry.reference);
      const newest = (last: number, count: number) =>
        Array.from({ length: count }, (_, at) => `room ${last - at}`);

      expectOk(await report(1, 49));
      expect(await rooms()).toStrictEqual(newest(49, 49));
      expectOk(await report(50, 1));
      expect(await rooms()).toStrictEqual(newest(50, 50));
      expectOk(await report(51, 1));
      expect(await rooms()).toStrictEqual(newest(51, 50));
      expectOk(await report(52, 60));
      expect(await rooms()).toStrictEqual(newest(111, 50));

      const { balance, admitted } = expectOk(await show(fresh.key));
      expect(admitted).toBe(false);
      expect(balance.micros).toBeLessThan(0);
      expect(balance).toStrictEqual(amount(balance.micros));
    });

    test('shortens rooms and participants from before they had a limit', async () => {
      const fresh = await app.paidTenant();
      const texts = ['x'.repeat(1_000_000), '😀'.repeat(201), '😀'.repeat(200), 'short', ''];
      const records = texts.map((text, at) => ({
        id: `old-${at}`,
        room: text,
        participant: text,
        role: 'host' as const,
        tier: 'hd' as const,
        seconds: 60,
        egressBytes: 1n,
        ingressBytes: 0n,
      }));
      await chargeUsage(app.service.deps, limitedCaller(idOf(fresh)), UsageRecords.from(records));
      const entries: { kind: string; reference: string; detail: string }[] = expectOk(
        await show(fresh.key),
      ).recent;
      const shown = entries.filter(({ kind }) => kind === 'usage').reverse();
      const shortened = [`${'x'.repeat(199)}…`, `${'😀'.repeat(199)}…`, '😀'.repeat(200), 'short', ''];
      expect(shown.map(({ reference }) => reference)).toStrictEqual(shortened);
      expect(shown.map(({ detail }) => detail)).toStrictEqual(shortened);
    });

    test('says why the last automatic top-up failed, and only then', async () => {
      const fresh = await app.paidTenant();
      await app.service.deps.db.query(
        'update payment_settings set last_top_up_error = $2 where tenant_id = $1',
        [BigInt.asIntN(64, BigInt(`0x${fresh.id.slice(2)}`)), 'The card was declined (card_declined).'],
      );
      expect(expectOk(await show(fresh.key)).tenant.last_top_up_error).toBe(
        'The card was declined (card_declined).',
      );
      expect(expectOk(await show(paid.key)).tenant).not.toHaveProperty('last_top_up_error');
    });
  });

  describe('401', () => {
    test('refuses a relay key, even of the same tenant', async () => {
      expectError(await show(paid.relayKey), 401, 'invalid api key');
    });
  });

  describe('403', () => {
    test.each(['suspended', 'archived', 'deleted'] as const)(
      'refuses a tenant that is %s',
      async (status) => {
        const fresh = await app.signUp();
        await setStatus(app, fresh, status);
        expectError(await show(fresh.key), 403, 'tenant is not active');
        expectError(await show(fresh.relayKey), 401, 'invalid api key');
      },
    );
  });
});
