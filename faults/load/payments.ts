/** Customers who pay, get money back, dispute, and let their card be charged automatically. */
import { ApiError } from '../../sandbox/http/errors.ts';
import { unfreezeTopUps } from '../../src/money/top-ups/unfreeze-top-ups.ts';
import { OPERATOR } from '../../test/support/tenants.ts';
import type { Client } from './client.ts';
import { kind } from './kind.ts';
import { operate } from './operate.ts';

export const CARD = '4242424242424242';
const DECLINED = '4000000000000002';
export const DECLINED_LATER = '4000000000000341';
/** Cents, more than any tenant has: with this threshold, a top-up follows the next charge. */
export const BELOW_ANY = 20_000_000;

interface Step {
  readonly action: 'pay' | 'refund' | 'dispute' | 'close dispute' | 'auto top-up' | 'unfreeze' | 'read';
  readonly service: number;
  readonly cents: number;
  readonly card: string;
  /** Which payment or dispute, from 0 to 1. */
  readonly place: number;
  readonly isWon: boolean;
  readonly autoTopUp: AutoTopUp;
}

interface AutoTopUp {
  readonly enabled: boolean;
  readonly below_cents: number;
  readonly amount_cents: number;
}

export const payments = kind<Step>({
  name: 'payments',
  clients: 1,
  pauseSeconds: 1,
  draw: (random) => ({
    action: random.weighted({
      pay: 3,
      refund: 1.5,
      dispute: 0.5,
      'close dispute': 0.5,
      'auto top-up': 2,
      unfreeze: 0.5,
      read: 8,
    }),
    service: random.integer(0, 1),
    cents: random.integer(1_000, 20_000),
    card: random.weighted({ [CARD]: 8, [DECLINED]: 1, [DECLINED_LATER]: 1.5, nothing: 1 }),
    place: random.number(),
    isWon: random.chance(0.5),
    autoTopUp: {
      enabled: random.chance(0.85),
      below_cents: random.chance(0.8) ? BELOW_ANY : random.integer(500, 3_000),
      amount_cents: random.pick([1_000, 1_000, 2_000]),
    },
  }),
  open: async (client) => {
    const paid: string[] = [];
    const disputes: string[] = [];
    await setAutoTopUp(client, 0, { enabled: true, below_cents: BELOW_ANY, amount_cents: 1_000 });
    const { control } = client.stage.provider;
    const actions: Readonly<Record<Step['action'], (step: Step) => unknown>> = {
      pay: async (step) => paid.push(...(await pay(client, step))),
      refund: ({ place, cents }) => attempt(() => control.refund(at(paid, place), { amount: cents })),
      dispute: ({ place }) =>
        client.tenant.isDisputed && attempt(() => disputes.push(control.dispute(at(paid, place)).id)),
      'close dispute': ({ place, isWon }) =>
        attempt(() =>
          isWon ? control.winDispute(at(disputes, place)) : control.loseDispute(at(disputes, place)),
        ),
      'auto top-up': ({ service, autoTopUp }) => setAutoTopUp(client, service, autoTopUp),
      unfreeze: () => unfreeze(client),
      read: ({ service }) => readBilling(client, service),
    };
    return async (step) => void (await actions[step.action](step));
  },
});

/** What the provider does not allow, as a refund of more than is left, does not happen. */
function attempt(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** One of these ids, or one that the provider does not know. */
function at(all: readonly string[], place: number): string {
  return all[Math.floor(place * all.length)] ?? 'none';
}

/** Returns the payment, if there was one. */
async function pay(client: Client, { service, cents, card }: Step): Promise<string[]> {
  const { outcome, json } = await checkout(client, service, cents);
  if (outcome !== 'ok' || card === 'nothing') return [];
  return payAt(client, json.checkout_url, card);
}

export async function checkout(client: Client, service: number, cents: number) {
  const idempotency = client.newIdempotencyKey();
  return client.rest(
    'checkout.create',
    { amount_cents: cents },
    {
      ...{ method: 'POST', path: '/v1/billing/checkout', key: client.tenant.key, service, idempotency },
      body: { amount_cents: cents },
    },
    ({ checkout_url }) => ({ session: sessionOf(checkout_url) }),
  );
}

/** Pay on the page, as its buyer. */
export function payAt(client: Pick<Client, 'stage' | 'tenant'>, checkoutUrl: string, card = CARD): string[] {
  let payment: string[] = [];
  attempt(() => {
    const { stage, tenant } = client;
    const session = sessionOf(checkoutUrl);
    const { id, status } = stage.provider.control.pay(session, { card });
    if (status !== 'succeeded') return;
    stage.journal.note('checkout.paid', { tenant: tenant.id, session, payment: id });
    payment = [id];
  });
  return payment;
}

function sessionOf(checkoutUrl: string): string {
  return /cs_test_\w+/.exec(checkoutUrl)![0];
}

export async function setAutoTopUp(client: Client, service: number, body: AutoTopUp): Promise<void> {
  const request = { method: 'PUT', path: '/v1/billing/auto-top-up', body } as const;
  await client.change('auto_top_up.set', { ...body }, service, request);
}

/** An operator's command, after which a dispute no longer stops top-ups. */
const unfreeze = (client: Client) =>
  operate(client, 'auto_top_up.unfreeze', {}, (db, tenant) => unfreezeTopUps(db, OPERATOR, tenant));

export async function readBilling(client: Client, service: number): Promise<void> {
  await client.read('billing.read', {}, service, '/v1/billing', ({ tenant, balance, admitted }) => ({
    tenant,
    balance,
    admitted,
  }));
}
