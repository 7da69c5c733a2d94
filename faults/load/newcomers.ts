/** Tenants that sign up while things go wrong, pay or are exempt, report usage, let their card be charged automatically, and get money back. */
import { ApiError } from '../../sandbox/http/errors.ts';
import { setExempt } from '../../src/money/tenant-status/change-status.ts';
import { OPERATOR } from '../../test/support/tenants.ts';
import type { WireRecord } from '../operations.ts';
import type { Random } from '../random.ts';
import { Client } from './client.ts';
import { kind } from './kind.ts';
import { operate } from './operate.ts';
import { BELOW_ANY, CARD, checkout, DECLINED_LATER, payAt, readBilling, setAutoTopUp } from './payments.ts';
import { signUp } from './sign-up.ts';
import { drawRecord, newRelayKey, report } from './usage.ts';

interface Step {
  readonly service: number;
  readonly records: readonly Omit<WireRecord, 'id'>[];
  /** What the first payment is. */
  readonly card: string;
  /** Reported once automatic top-ups are on: what is charged for them leads to one. */
  readonly later: readonly Omit<WireRecord, 'id'>[];
  readonly paysTwice: boolean;
  /** Cents; 0: none. */
  readonly refund: number;
  /** An operator lets it use what it wants, before it reports anything. It does not pay. */
  readonly isExempt: boolean;
}

export const newcomers = kind<Step>({
  name: 'newcomers',
  clients: 1,
  pauseSeconds: 12,
  draw: (random: Random) => ({
    service: random.integer(0, 1),
    records: Array.from({ length: random.integer(1, 30) }, () => drawRecord(random)),
    card: random.weighted({ [CARD]: 3, [DECLINED_LATER]: 1 }),
    later: Array.from({ length: random.integer(1, 30) }, () => drawRecord(random)),
    paysTwice: random.chance(0.3),
    refund: random.chance(0.4) ? random.integer(1, 2_500) : 0,
    isExempt: random.chance(0.15),
  }),
  open: async (opener) => {
    let count = 0;
    return async ({ service, records, card, later, paysTwice, refund, isExempt }) => {
      const name = `n${opener.number}-${count++}`;
      const signedUp = await signUp(opener, name, service);
      if (signedUp === undefined) return;
      const { tenant, checkoutUrl } = signedUp;
      const client = new Client(opener.number, tenant, opener.shared);
      client.continues(opener);
      if (isExempt)
        await operate(client, 'tenant.exempt', { exempt: true }, (db, id) =>
          setExempt(db, OPERATOR, id, true),
        );
      const paid = checkoutUrl === '' || isExempt ? [] : payAt(client, checkoutUrl, card);
      const key = await newRelayKey(client);
      const own = records.map((record, at) => ({ id: `n-${at}`, ...record }));
      await client.insist(service, (at) => report(client, at, key, own));
      if (paysTwice && !isExempt) {
        const { outcome, json } = await checkout(client, service, 2_500);
        if (outcome === 'ok') payAt(client, json.checkout_url);
      }
      // Refused if the payment was not credited yet, and with it its card not saved.
      await setAutoTopUp(client, service, { enabled: true, below_cents: BELOW_ANY, amount_cents: 1_000 });
      const more = later.map((record, at) => ({ id: `n-later-${at}`, ...record }));
      await client.insist(service, (at) => report(client, at, key, more));
      if (refund > 0 && paid[0]) giveBack(client, paid[0], refund);
      await client.insist(service, (at) => report(client, at, key, own));
      await readBilling(client, service);
    };
  },
});

function giveBack(client: Client, payment: string, cents: number): void {
  try {
    client.stage.provider.control.refund(payment, { amount: cents });
  } catch (error) {
    // More than was paid.
    if (!(error instanceof ApiError)) throw error;
  }
}
