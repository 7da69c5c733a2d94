/** Attempts to charge a saved card, and what may end them. */
import type Stripe from 'stripe';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newId } from '../../../src/base/lib/ids.ts';
import { renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { noteTopUpTrouble } from '../../../src/money/payments/payments.sql.ts';
import { cancelAttempt } from '../../../src/money/top-ups/cancel-attempt.ts';
import { prepareAttempt } from '../../../src/money/top-ups/prepare-attempt.ts';
import { settlePayment } from '../../../src/money/top-ups/settle-payment.ts';
import {
  claimDueAttempt,
  findAttempt,
  insertAttempt,
  markStuck,
} from '../../../src/money/top-ups/top-up-attempts.sql.ts';
import { makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';

interface World {
  readonly tenant: TenantId;
  /** The attempt. */
  readonly id: string;
}

const CENTS = 2_000;

/** A tenant without credit, whose saved card is about to be charged. No other attempt is due. */
async function prepare(db: Pool): Promise<World> {
  await db.query(
    `update top_up_attempts set state = 'canceled', finished_at = now() where state in ('pending', 'unknown')`,
  );
  const tenant = await makeTenant(db, { status: 'active' });
  await db.query(
    `update payment_settings
        set customer_id = 'cus_' || $1, payment_method_id = 'pm_' || $1, card_fingerprint = 'card_' || $1,
            first_paid_at = now(), top_up_enabled = true, top_up_below = 1, top_up_amount = $2
      where tenant_id = $1::text::bigint`,
    [`${tenant}`, CENTS * 10_000],
  );
  const id = newId('tu');
  await inTransaction(db, (tx) => insertAttempt(tx, id, tenant));
  return { tenant, id };
}

/** It was sent half an hour ago, and the provider repeats an error under its key. A new key may be used. */
async function prepareStuck(db: Pool): Promise<World> {
  const world = await prepare(db);
  await db.query(
    `update top_up_attempts a
        set state = 'unknown', first_sent_at = now() - interval '30 minutes', sends = 1, new_key_at = now(),
            customer_id = s.customer_id, payment_method_id = s.payment_method_id
       from payment_settings s where a.id = $1 and s.tenant_id = a.tenant_id`,
    [world.id],
  );
  return world;
}

/** What a worker does that got an error: it notes it, and has the row of the attempt meanwhile. */
function noteError({ tenant, id }: World, db: Pool): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockAccount(tx, tenant);
    await markStuck(tx, id, 600);
    await noteTopUpTrouble(tx, tenant, 'the provider has an error');
  });
}

/** Returns the idempotency key that a worker would charge the card with, once its own claim has run out. */
async function sendStalled({ id }: World, db: Pool): Promise<number | undefined> {
  const claimed = (await findAttempt(db, id))!;
  const { attempt } = await inTransaction(db, (tx) => prepareAttempt(tx, claimed));
  return attempt?.keys;
}

function settle({ tenant, id }: World, db: Pool): Promise<unknown> {
  const intent = {
    ...{ id: `pi_${id}`, status: 'succeeded', currency: 'usd', amount_received: CENTS, payment_method: null },
    metadata: { tenant: renderTenantId(tenant), attempt: id },
  };
  return inTransaction(db, (tx) =>
    settlePayment(tx, { intent: intent as unknown as Stripe.PaymentIntent, tax: 0n }),
  );
}

async function cancel({ id }: World, db: Pool): Promise<void> {
  await inTransaction(db, async (tx) => {
    await cancelAttempt(tx, (await findAttempt(tx, id))!, 'the provider did not answer');
  });
}

/** The balance is what the postings add up to, and each payment has one. */
async function checkCredit(db: Pool, { tenant }: World): Promise<string | undefined> {
  const { rows } = await db.query<{ balance: bigint; posted: bigint; paid: bigint }>(
    `select balance, (select coalesce(sum(amount), 0)::bigint from postings where tenant_id = $1) as posted,
            (select coalesce(sum(credited), 0)::bigint from payments where tenant_id = $1) as paid
       from accounts where tenant_id = $1`,
    [tenant],
  );
  const { balance, posted, paid } = rows[0]!;
  return balance === posted && posted === paid
    ? undefined
    : `${paid} paid, ${posted} posted, ${balance} left`;
}

const claims = staged<World>({
  name: 'two workers and an attempt that is due, whose row a third one has',
  mayCrowd: true,
  prepare: prepareStuckDue,
  actors: [noteError, (_, db) => claimDueAttempt(db), (_, db) => claimDueAttempt(db)],
  check: async (_db, _world, [, ...claimed]) => {
    const count = claimed.filter((each) => each !== undefined).length;
    return count <= 1 ? undefined : 'two workers have claimed the attempt';
  },
});

/** Its key was not known to be stuck. */
async function prepareStuckDue(db: Pool): Promise<World> {
  const world = await prepareStuck(db);
  await db.query('update top_up_attempts set new_key_at = null where id = $1', [world.id]);
  return world;
}

const resends = staged<World>({
  name: 'two workers send a stuck attempt again',
  prepare: prepareStuck,
  actors: [sendStalled, sendStalled],
  check: async (_db, _world, keys) => {
    const used = new Set(keys.filter((key) => key !== undefined));
    return used.size <= 1 ? undefined : `the card is charged under ${used.size} keys`;
  },
});

const ends = staged<World>({
  name: 'a payment that arrives when its attempt is given up',
  prepare: prepareStuck,
  actors: [settle, cancel],
  check: async (db, world) => {
    const { rows } = await db.query<{ types: string[] }>(
      'select array_agg(type order by id) as types from unnumbered_events where tenant_id = $1',
      [world.tenant],
    );
    const { types } = rows[0]!;
    const at = types.indexOf('top_up_succeeded');
    if (at < 0) return 'the payment was not told';
    return types.includes('top_up_failed', at) ? 'it failed after it had succeeded' : checkCredit(db, world);
  },
});

const answers = staged<World>({
  name: 'the answer to a charge, and the event of it',
  prepare: prepareStuck,
  actors: [settle, settle],
  check: checkCredit,
});

export const TOP_UPS: Part = {
  part: 'top-ups',
  scenarios: [claims, resends, ends, answers],
  races: [
    {
      name: 'two workers claim one attempt',
      scenario: claims,
      rewrite: { statement: 'claim-due-attempt', from: 'for update skip locked', to: '' },
    },
    {
      name: 'two workers use a new key each',
      scenario: resends,
      rewrite: { statement: 'mark-attempt-resent', from: ', new_key_at = null', to: '' },
    },
    {
      name: 'an attempt is given up that has succeeded',
      scenario: ends,
      rewrite: { statement: 'finish-attempt', from: `and state in ('pending', 'unknown')`, to: '' },
    },
    {
      name: 'a payment is credited by its answer and by its event',
      scenario: answers,
      rewrite: {
        statement: 'insert-payment',
        from: 'on conflict do nothing',
        to: 'on conflict (id) do update set settled_at = excluded.settled_at',
      },
    },
  ],
};
