/** Customers who pay, get money back, dispute, and let their card be charged automatically. */
import { ApiError } from '../../sandbox/http/errors.ts';
import type { Client } from './client.ts';
import { kind } from './kind.ts';

const CARD = '4242424242424242';
const DECLINED = '4000000000000002';
const DECLINED_LATER = '4000000000000341';

interface Step {
  readonly action: 'pay' | 'refund' | 'dispute' | 'close dispute' | 'auto top-up' | 'read';
  readonly service: number;
  readonly cents: number;
  readonly card: string;
  /** Which payment or dispute, from 0 to 1. */
  readonly place: number;
  readonly isWon: boolean;
  readonly belowCents: number;
  readonly isEnabled: boolean;
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
      'auto top-up': 1,
      read: 8,
    }),
    service: random.integer(0, 1),
    cents: random.integer(1_000, 20_000),
    card: random.weighted({ [CARD]: 8, [DECLINED]: 1, [DECLINED_LATER]: 0.3, nothing: 1 }),
    place: random.number(),
    isWon: random.chance(0.5),
    belowCents: random.integer(500, 3_000),
    isEnabled: random.chance(0.85),
  }),
  open: async (client) => {
    const paid: string[] = [];
    const disputes: string[] = [];
    await setAutoTopUp(client, { service: 0, isEnabled: true, belowCents: 1_500 });
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
      'auto top-up': (step) => setAutoTopUp(client, step),
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

/** One of these ids; what no id is, the provider does not know. */
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
export function payAt(client: Pick<Client, 'stage'>, checkoutUrl: string, card = CARD): string[] {
  let payment: string[] = [];
  attempt(() => {
    const { id, status } = client.stage.provider.control.pay(sessionOf(checkoutUrl), { card });
    if (status === 'succeeded') payment = [id];
  });
  return payment;
}

function sessionOf(checkoutUrl: string): string {
  return /cs_test_\w+/.exec(checkoutUrl)![0];
}

async function setAutoTopUp(
  client: Client,
  { service, isEnabled, belowCents }: Pick<Step, 'service' | 'isEnabled' | 'belowCents'>,
): Promise<void> {
  const body = { enabled: isEnabled, below_cents: belowCents, amount_cents: 1_000 };
  const idempotency = client.newIdempotencyKey();
  const path = '/v1/billing/auto-top-up';
  await client.insist(service, (at) =>
    client.rest('auto_top_up.set', body, {
      ...{ method: 'PUT', path, key: client.tenant.key, service: at, idempotency, body },
    }),
  );
}

export async function readBilling(client: Client, service: number): Promise<void> {
  await client.rest(
    'billing.read',
    {},
    { method: 'GET', path: '/v1/billing', key: client.tenant.key, service },
    ({ tenant, balance, admitted }) => ({ tenant, balance, admitted }),
  );
}
