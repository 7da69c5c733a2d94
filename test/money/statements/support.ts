/** A statement with a part of every kind. */
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { UTC } from '../../../src/money/calendar/time-zone.ts';
import type { Month } from '../../../src/money/month.ts';
import { NO_DETAILS } from '../../../src/money/statements/billing-details.ts';
import type { Statement } from '../../../src/money/statements/statement.ts';
import type { Measures } from '../../../src/money/usage/usage-summary.ts';

const measures = (size: bigint): Measures => ({
  records: size,
  seconds: size * 60n,
  egressBytes: size * 2n ** 54n,
  ingressBytes: size,
  amount: size * 1_000_000n,
  unbilled: size,
});

export const SAMPLE: Statement = {
  issuer: 'https://boxoffice.example.org',
  issuerDetails: NO_DETAILS,
  tenant: { id: 0x123n as TenantId, name: 'Ada "Video" <Küche>', details: NO_DETAILS },
  month: '2026-10' as Month,
  zone: UTC,
  from: new Date('2026-10-01T00:00:00Z'),
  to: new Date('2026-11-01T00:00:00Z'),
  soFar: false,
  opening: -5n,
  payments: {
    entries: [
      {
        at: new Date('2026-10-01T00:00:00.000Z'),
        kind: 'top_up',
        amount: 20_000_000n,
        reference: 'pi_1',
        detail: undefined,
        payment: undefined,
      },
    ],
    others: { count: 2n, sum: 40_000_000n },
    sum: 60_000_000n,
  },
  reversals: {
    entries: [
      {
        at: new Date('2026-10-31T23:59:59.999Z'),
        kind: 'dispute',
        amount: -1_000_000n,
        reference: 'dp_1',
        detail: undefined,
        payment: 'pi_1',
      },
    ],
    others: undefined,
    sum: -1_000_000n,
  },
  adjustments: {
    entries: [
      {
        at: new Date('2026-10-09T08:07:06.005Z'),
        kind: 'adjustment',
        amount: 1n,
        reference: undefined,
        detail: '=goodwill',
        payment: undefined,
      },
    ],
    others: undefined,
    sum: 1n,
  },
  grants: { entries: [], others: undefined, sum: 0n },
  granted: { opening: 0n, closing: 0n },
  usage: {
    rooms: [
      { room: 'lobby', ...measures(3n) },
      { room: '', ...measures(1n) },
    ],
    others: { rooms: 4n, ...measures(2n) },
    sum: measures(6n),
  },
  closing: 52_999_996n,
};
