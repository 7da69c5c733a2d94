/** What is known of saved cards, and the event `card_expiring`. */
import type Stripe from 'stripe';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { learnCards } from '../../../src/money/cards/learn-cards.ts';
import { postponeCard, updateCardDetails } from '../../../src/money/cards/saved-cards.sql.ts';
import { tellExpiringCards } from '../../../src/money/cards/tell-expiring-cards.ts';
import { readCardDetails } from '../../../src/money/payments/saved-card.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { eventsOf } from '../../support/events.ts';
import { openHolder } from '../../support/holder.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { GOOD_CARD, OTHER_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

const learnWith = (stripe: Stripe, stopping?: AbortSignal) =>
  learnCards(app.service.deps, { ...app.service.deps.provider!, stripe }, stopping);
const learn = () => learnWith(app.stripe);
const tell = () => tellExpiringCards(app.service.deps);

afterEach(async () => {
  await db().query(`update payment_settings set card_look_at = 'infinity' where card_ends_on is null`);
});

/** Brand, last digits and end of the saved card; `null`: not known. */
async function cardOf(tenant: TestTenant): Promise<unknown> {
  const { rows } = await db().query(
    `select card_brand || ' ' || card_last4 || ' ' || card_ends_on as card from payment_settings where tenant_id = $1`,
    [kit.idOf(tenant)],
  );
  return rows[0].card;
}

async function told(tenant: TestTenant) {
  const events = await eventsOf(db(), kit.idOf(tenant));
  return events.filter(({ type }) => type === 'card_expiring').map(({ subject }) => subject);
}

/** Let time pass until the card ends in so many days, in UTC. Returns its last month. */
async function endsIn(tenant: TestTenant, days: number): Promise<string> {
  const { rows } = await db().query(
    `with ended as (
       update payment_settings set card_ends_on = (now() at time zone 'UTC')::date + $2::integer where tenant_id = $1
       returning card_ends_on)
     select to_char(card_ends_on - 1, 'YYYY-MM') as month from ended`,
    [kit.idOf(tenant), days],
  );
  return rows[0].month;
}

/** Let so many days pass for the card. */
async function passDays(tenant: TestTenant, days: number): Promise<void> {
  await db().query(
    `update payment_settings set card_ends_on = card_ends_on - $2::integer where tenant_id = $1`,
    [kit.idOf(tenant), days],
  );
}

/**
 * As in a database from before cards were known. The service of this file also asks, every ten seconds: `lookIn`
 * hours at the earliest.
 */
async function forget(tenant: TestTenant, lookIn = 1): Promise<string> {
  const { rows } = await db().query(
    `with forgotten as (
       update payment_settings set card_brand = null, card_last4 = null, card_ends_on = null,
              card_look_at = now() + make_interval(hours => $2)
        where tenant_id = $1 returning card_look_at)
     select card_look_at::text as claim from forgotten`,
    [kit.idOf(tenant), lookIn],
  );
  return rows[0].claim;
}

/** Ask for all cards that are not known. */
async function learnAll(): Promise<void> {
  await db().query(`update payment_settings set card_look_at = null where card_ends_on is null`);
  await learn();
}

const methodOf = async (tenant: TestTenant) => (await kit.settingsOf(tenant)).payment_method_id!;

describe('a card', () => {
  test('is known as soon as it is saved', async () => {
    const tenant = await app.signUp();
    const checkout = await app.request('POST', '/v1/billing/checkout', {
      key: tenant.key,
      body: { amount_cents: 2000 },
    });
    const session = /cs_test_\w+/.exec(checkout.json.checkout_url)![0];
    app.sandbox.control.pay(session, { card: OTHER_CARD, expMonth: 2, expYear: 2028 });
    await app.settled();
    expect(await cardOf(tenant)).toBe('mastercard 4444 2028-03-01');
  });

  test('that was saved before is asked of the provider, once', async () => {
    const tenant = await kit.toppedUp();
    const card = await cardOf(tenant);
    await forget(tenant, 0);
    await learn();
    await expect.poll(() => cardOf(tenant)).toBe(card);
    const retrieve = vi.spyOn(app.stripe.paymentMethods, 'retrieve');
    await learnWith(app.stripe);
    expect(retrieve).not.toHaveBeenCalled();
    retrieve.mockRestore();
  });

  test('that the card network renewed is asked anew, whatever the event says, in any order', async () => {
    const tenant = await kit.toppedUp();
    const [id, card] = [await methodOf(tenant), await cardOf(tenant)];
    app.sandbox.control.fault({ effect: 'reorder', event: 'payment_method.*', count: 2 });
    app.sandbox.control.renewCard(id, { expMonth: 3, expYear: 2030 });
    app.sandbox.control.renewCard(id, { expMonth: 4, expYear: 2031 });
    await app.sandbox.control.release('reversed');
    await app.settled();
    expect(await cardOf(tenant)).not.toBe(card);
    await learn();
    await expect.poll(() => cardOf(tenant)).toBe('visa 4242 2031-05-01');
  });

  test('that is renewed while the provider is asked is asked once more', async () => {
    const tenant = await kit.toppedUp();
    const paymentMethodId = await methodOf(tenant);
    const claimed = { tenant: kit.idOf(tenant), paymentMethodId, claim: await forget(tenant) };
    const asked = readCardDetails(await app.stripe.paymentMethods.retrieve(paymentMethodId))!;
    app.sandbox.control.renewCard(paymentMethodId, { expMonth: 4, expYear: 2031 });
    await app.settled();
    await updateCardDetails(db(), claimed, asked);
    await postponeCard(db(), claimed, 86_400);
    await learn();
    await expect.poll(() => cardOf(tenant)).toBe('visa 4242 2031-05-01');
  });

  test('is asked by another process when the one that was to ask has died', async () => {
    const tenant = await kit.toppedUp();
    const card = await cardOf(tenant);
    await forget(tenant);
    await learn();
    expect(await cardOf(tenant)).toBeNull();
    await db().query('update payment_settings set card_look_at = now() where tenant_id = $1', [
      kit.idOf(tenant),
    ]);
    await learn();
    // The service may be the one that asks.
    await expect.poll(() => cardOf(tenant)).toBe(card);
  });

  test('stays unknown while the provider is away, and ends the turn', async () => {
    const tenants = [await kit.toppedUp(), await kit.toppedUp()];
    for (const tenant of tenants) await forget(tenant);
    const retrieve = vi.spyOn(app.stripe.paymentMethods, 'retrieve').mockRejectedValue(new Error('away'));
    await db().query(`update payment_settings set card_look_at = null where card_ends_on is null`);
    await expect(learnWith(app.stripe)).rejects.toThrow('away');
    expect(retrieve).toHaveBeenCalledTimes(1);
    retrieve.mockRestore();
    const { rows } = await db().query(
      'select 1 from payment_settings where card_look_at between now() and now() + $1::interval',
      ['5 minutes'],
    );
    expect(rows).toHaveLength(1);
  });

  test('that the provider does not have is asked again after a day', async () => {
    const tenant = await kit.toppedUp();
    await forget(tenant);
    await db().query(`update payment_settings set payment_method_id = 'pm_gone' where tenant_id = $1`, [
      kit.idOf(tenant),
    ]);
    await learnAll();
    const hours = async () => {
      const { rows } = await db().query(
        `select extract(epoch from card_look_at - now()) / 3600 as hours from payment_settings where tenant_id = $1`,
        [kit.idOf(tenant)],
      );
      return Number(rows[0].hours);
    };
    // A service of this file may be the one that asks.
    await expect.poll(hours).toBeCloseTo(24, 1);
    await db().query('update payment_settings set payment_method_id = null where tenant_id = $1', [
      kit.idOf(tenant),
    ]);
  });

  test('is asked by the job of each process, and not once it stops', async () => {
    const tenant = await kit.toppedUp();
    const card = await cardOf(tenant);
    await forget(tenant, 0);
    const retrieve = vi.spyOn(app.stripe.paymentMethods, 'retrieve');
    await learnWith(app.stripe, AbortSignal.abort());
    expect(retrieve).not.toHaveBeenCalled();
    retrieve.mockRestore();
    await app.another();
    await expect.poll(() => cardOf(tenant)).toBe(card);
  });

  test('at most ten are asked in one turn', async () => {
    const method = app.sandbox.control.saveCard((await app.stripe.customers.create({})).id, GOOD_CARD);
    for (let made = 0; made < 12; made += 1) {
      const tenant = await app.signUp();
      await forget(tenant);
      await db().query(
        'update payment_settings set customer_id = $2, payment_method_id = $3 where tenant_id = $1',
        [kit.idOf(tenant), `cus_of_test_${made}`, method.id],
      );
    }
    const unknown = async () => {
      const { rowCount } = await db().query(
        `select from payment_settings where payment_method_id = $1 and card_ends_on is null`,
        [method.id],
      );
      return rowCount;
    };
    const retrieve = vi.spyOn(app.stripe.paymentMethods, 'retrieve');
    await learnAll();
    // Services of this file may ask for some.
    expect(retrieve.mock.calls.length).toBeLessThanOrEqual(10);
    retrieve.mockRestore();
    await learn();
    await expect.poll(unknown).toBe(0);
  });

  test('that was removed is known no longer', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.detachCard(await methodOf(tenant));
    await app.settled();
    expect(await cardOf(tenant)).toBeNull();
  });
});

describe('card_expiring', () => {
  test.each([
    [31, false],
    [30, true],
    [1, true],
    [0, true],
  ])('%d days before the end: %s', async (days, isTold) => {
    const tenant = await kit.toppedUp();
    const expires = await endsIn(tenant, days);
    await tell();
    // A service of this file may be the one that tells.
    await expect
      .poll(() => told(tenant))
      .toStrictEqual(isTold ? [{ brand: 'visa', last4: '4242', expires }] : []);
  });

  test('is told once by several processes, whatever the number of turns', async () => {
    const { service } = await app.another();
    const tenants = [await kit.toppedUp(), await kit.toppedUp(), await kit.toppedUp()];
    for (const tenant of tenants) await endsIn(tenant, 20);
    await Promise.all([tell(), tellExpiringCards(service.deps), tell(), tellExpiringCards(service.deps)]);
    await tell();
    for (const tenant of tenants) await expect.poll(() => told(tenant)).toHaveLength(1);
  });

  test('is told by the job of a process', async () => {
    const tenant = await kit.toppedUp();
    await endsIn(tenant, 20);
    await app.another();
    await expect.poll(() => told(tenant)).toHaveLength(1);
  });

  test('is not told without automatic top-up, and is when it is turned on', async () => {
    const tenant = await app.paidTenant();
    await endsIn(tenant, 20);
    await tell();
    expect(await told(tenant)).toEqual([]);
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 1000 });
    await tell();
    await expect.poll(() => told(tenant)).toHaveLength(1);
  });

  test('is not told to an exempt tenant, whose card is never charged', async () => {
    const tenant = await kit.toppedUp();
    await setExempt(db(), OPERATOR, kit.idOf(tenant), true);
    await endsIn(tenant, 20);
    await tell();
    expect(await told(tenant)).toEqual([]);
  });

  test('is not told of a card that was replaced', async () => {
    const tenant = await kit.toppedUp();
    // Not yet within the days that are told: the service of this file tells, too.
    await endsIn(tenant, 40);
    await app.pay(tenant, { card: OTHER_CARD });
    await passDays(tenant, 20);
    await tell();
    expect(await told(tenant)).toEqual([]);
  });

  test('is not told again when the same card is saved again, and is of another end', async () => {
    const tenant = await kit.toppedUp();
    const first = await endsIn(tenant, 10);
    await tell();
    await expect.poll(() => told(tenant)).toHaveLength(1);
    await app.pay(tenant, { card: GOOD_CARD });
    await endsIn(tenant, 10);
    await tell();
    expect(await told(tenant)).toMatchObject([{ expires: first }]);
    await endsIn(tenant, 29);
    await tell();
    await expect.poll(() => told(tenant)).toHaveLength(2);
  });

  test('is left to the next turn while the settings are locked', async () => {
    const tenant = await kit.toppedUp();
    // Not told to before the settings are locked, by the services of this file neither.
    await setExempt(db(), OPERATOR, kit.idOf(tenant), true);
    await endsIn(tenant, 20);
    const holder = await openHolder(db());
    await holder.query('select from payment_settings where tenant_id = $1 for update', [kit.idOf(tenant)]);
    await setExempt(db(), OPERATOR, kit.idOf(tenant), false);
    await tell();
    expect(await told(tenant)).toEqual([]);
    await holder.release();
    await tell();
    await expect.poll(() => told(tenant)).toHaveLength(1);
  });
});

describe('readCardDetails', () => {
  const card = (fields: object) => ({
    card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2026, ...fields } as never,
  });

  test.each([
    ['a card pays until the end of its month', card({}), '2027-01-01'],
    ['in February', card({ exp_month: 2, exp_year: 2028 }), '2028-03-01'],
    ['no card', {}, undefined],
    ['a month that does not exist', card({ exp_month: 13 }), undefined],
    ['no year', card({ exp_year: undefined }), undefined],
    ['no number', card({ last4: '' }), undefined],
  ])('%s', (_, method, endsOn) => {
    expect(readCardDetails(method)?.endsOn).toBe(endsOn);
  });
});
