import { describe, expect, it } from 'vitest';
import { SECRET_KEY, type TestTenant, useService } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const withProvider = () => ({
  STRIPE_SECRET_KEY: SECRET_KEY,
  STRIPE_WEBHOOK_SECRET: 'whsec_x',
  STRIPE_API_BASE: app.sandbox.url,
});
const admin = (...args: string[]) =>
  runAdmin({ DATABASE_URL: db().options.connectionString!, ...withProvider() }, 'payments', ...args);

/** A checkout of $20 that was paid, and whose row the database has lost. */
async function payLostCheckout(tenant: TestTenant): Promise<string> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 2000 },
  });
  const [session] = /cs_test_\w+/.exec(answer.json.checkout_url)!;
  await db().query('delete from checkouts where session_id = $1', [session]);
  const { id } = app.sandbox.control.pay(session!, { card: '4242424242424242' });
  await app.settled();
  return id;
}

describe('payments', () => {
  it('list-parked, settle --all and dismiss', async () => {
    expect(await admin('list-parked')).toMatchObject({ code: 0, out: 'no parked notifications\n', err: '' });
    const [one, other] = [await app.signUp(), await app.signUp()];
    const first = await payLostCheckout(one);
    const second = await payLostCheckout(other);
    const foreign = await app.stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });
    await app.settled();
    const listed = await admin('list-parked');
    expect(listed.out).toMatch(
      new RegExp(
        `^evt_\\w+ +payment_intent\\.succeeded +\\S+Z +parked +${one.id} +${first} +payment ${first} belongs`,
        'm',
      ),
    );

    const settled = await admin('settle', '--all');
    expect(settled).toMatchObject({ code: 1, err: '' });
    expect(settled.out.split('\n').sort()).toEqual(
      [
        '',
        `${first}: $20.000000 of payment ${first} is credited to ${one.id}`,
        `${second}: $20.000000 of payment ${second} is credited to ${other.id}`,
        `${foreign.id}: still parked: its metadata does not name a tenant and what was paid`,
      ].sort(),
    );
    const { json } = await admin('list-parked', '--json');
    expect(json).toMatchObject([{ type: 'payment_intent.succeeded', state: 'parked', payment: foreign.id }]);

    expect(await admin('dismiss', json[0].id, '--reason', 'of another shop')).toMatchObject({
      code: 0,
      out: `${json[0].id} is dismissed\n`,
    });
    expect(await admin('settle', '--all')).toMatchObject({ code: 0, out: 'no parked notifications\n' });
  });

  it('settle needs an id or --all, and a provider', async () => {
    expect(await admin('settle')).toMatchObject({ code: 2, err: 'error: settle needs an id, or --all\n' });
    expect(await admin('settle', 'pi_nowhere')).toMatchObject({
      code: 1,
      out: 'pi_nowhere: no parked notification or payment pi_nowhere\n',
    });
    const env = { DATABASE_URL: db().options.connectionString!, PAYMENTS: 'none' };
    expect(await runAdmin(env, 'payments', 'settle', 'pi_1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('the payment provider is unknown'),
    });
  });
});
