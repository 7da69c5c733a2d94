import { beforeAll, describe, expect, it } from 'vitest';
import { withoutTriggers } from '../../support/append-only.ts';
import { SECRET_KEY, type TestTenant, useService } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const app = useService();
const MONTH = new Date().toISOString().slice(0, 7);
const [YEAR] = MONTH.split('-');
let tenant: TestTenant;
let payment: string;

const report = (...args: string[]) =>
  runAdmin(
    {
      DATABASE_URL: app.service.deps.db.options.connectionString!,
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: 'whsec_x',
      STRIPE_API_BASE: app.sandbox.url,
    },
    'report',
    ...args,
  );

beforeAll(async () => {
  tenant = await app.signUp();
  ({ payment } = await app.pay(tenant, { cents: 2000 }));
  app.sandbox.control.refund(payment, { amount: 500 });
  await app.paidTenant({ cents: 1000 });
  await app.settled();
});

describe('report revenue', () => {
  it('prints the month of the deployment', async () => {
    expect(await report('revenue', '--month', MONTH)).toMatchObject({
      code: 0,
      err: '',
      out: `${MONTH} SO FAR                   AMOUNT
credit at the start           $0.000000
  unused (liability)          $0.000000
  owed (receivable)           $0.000000
  granted, not paid           $0.000000
payments                     $30.000000
usage (revenue)               $0.000000
  paid by grants              $0.000000
refunds                      -$5.000000
disputes                      $0.000000
adjustments                   $0.000000
corrections of usage          $0.000000
grants                        $0.000000
grants expired or voided      $0.000000
credit at the end            $25.000000
  unused (liability)         $25.000000
  owed (receivable)           $0.000000
  granted, not paid           $0.000000
not billed (exempt tenants)   $0.000000
`,
    });
  });

  it('prints JSON, of one tenant if it is named', async () => {
    const amount = (micros: number) => ({ micros, display: expect.any(String) });
    const zero = amount(0);
    const { json } = await report('revenue', '--month', MONTH, '--tenant', tenant.id, '--json');
    expect(json).toEqual({
      month: MONTH,
      from: `${MONTH}-01T00:00:00.000Z`,
      until: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
      so_far: true,
      as_of: expect.stringMatching(/Z$/),
      tenant: tenant.id,
      opening: { total: zero, unused: zero, owed: zero, granted: zero },
      payments: amount(20_000_000),
      usage: zero,
      paid_by_grants: zero,
      refunds: amount(-5_000_000),
      disputes: zero,
      adjustments: zero,
      corrections: zero,
      grants: zero,
      grants_ended: zero,
      closing: { total: amount(15_000_000), unused: amount(15_000_000), owed: zero, granted: zero },
      unbilled: zero,
    });
  });

  it('of a month that has ended is not "so far"', async () => {
    const { out, code } = await report('revenue', '--month', `${Number(YEAR) - 1}-01`);
    expect([code, out.split('\n')[0]]).toEqual([0, expect.not.stringContaining('SO FAR')]);
  });

  it.each(['2026-13', '2026', 'october', ''])('does not understand the month %j', async (month) => {
    expect(await report('revenue', '--month', month)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('It must be a month, such as 2026-10.'),
    });
  });

  it('needs a month, and one that has begun', async () => {
    expect(await report('revenue')).toMatchObject({ code: 2 });
    expect(await report('revenue', '--month', '2999-01')).toMatchObject({
      code: 1,
      out: '',
      err: 'invalid request: month 2999-01 has not begun\n',
    });
  });

  it('needs a tenant that there is', async () => {
    expect(await report('revenue', '--month', MONTH, '--tenant', 't_x')).toMatchObject({ code: 2 });
    const unknown = await report('revenue', '--month', MONTH, '--tenant', 't_0000000000000000');
    expect(unknown).toMatchObject({ code: 1, out: '', err: 'tenant not found\n' });
  });

  it('fails when the ledger does not add up', async () => {
    const { db } = app.service.deps;
    const change = (amount: number) =>
      withoutTriggers(db, ['postings'], (tx) =>
        tx.query(`update postings set amount = $1 where payment_id = $2 and kind = 'top_up'`, [
          amount,
          payment,
        ]),
      );
    const { rows } = await db.query(
      `select conname, pg_get_constraintdef(oid) as definition from pg_constraint
        where conrelid = 'postings'::regclass and pg_get_constraintdef(oid) like '%balance_before + amount%'`,
    );
    const [{ conname, definition }] = rows;
    await db.query(`alter table postings drop constraint ${conname}`);
    await change(20_000_001);
    expect(await report('revenue', '--month', MONTH)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        `^the ledger of ${MONTH} does not add up \\(${tenant.id}\\): .* Run verify\n$`,
      ),
    });
    await change(20_000_000);
    await db.query(`alter table postings add constraint ${conname} ${definition}`);
  });
});

describe('report payouts', () => {
  const DAY = 86_400;
  const now = () => Math.floor(Date.now() / 1000);

  it('prints that there are none, and what waits', async () => {
    expect(await report('payouts', '--month', MONTH)).toMatchObject({
      code: 0,
      out: `no payouts in ${MONTH} so far\nnot paid out yet: $23.530000 of 3 transactions\n`,
    });
  });

  it('prints payouts that agree with the books', async () => {
    const { id } = app.sandbox.control.payOut({ arrivalDate: now() });
    const { code, out } = await report('payouts', '--month', MONTH);
    expect(code).toBe(0);
    expect(out.replace(id, 'po_1').replaceAll(/ +/g, ' ')).toMatch(
      new RegExp(
        '^PAYOUT ARRIVES STATUS GROSS REVERSED FEES OTHER NET\n' +
          'po_1 \\S+Z paid \\$30\\.000000 -\\$5\\.000000 -\\$1\\.470000 \\$0\\.000000 \\$23\\.530000\n' +
          `total of ${MONTH} so far - - \\$30\\.000000 -\\$5\\.000000 -\\$1\\.470000 \\$0\\.000000 \\$23\\.530000\n$`,
      ),
    );
  });

  it('prints what differs, both ways, and exits with 1', async () => {
    const { payment: held } = await app.pay(tenant, { cents: 3000 });
    const foreign = await app.stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
    });
    await app.settled();
    const charge = String((await app.stripe.paymentIntents.retrieve(held)).latest_charge);
    const { id } = app.sandbox.control.payOut({
      except: charge,
      created: now() + 2 * DAY,
      arrivalDate: now(),
    });
    const { code, out } = await report('payouts', '--month', MONTH);
    expect(code).toBe(1);
    const lines = out.split('\n').map((line) => line.split(/ {2,}/));
    const from = lines.findIndex(([first]) => first === 'DIFFERENCE');
    expect(lines.slice(from)).toEqual([
      ['DIFFERENCE', 'EXPECTED', 'FOUND'],
      [`payment ${foreign.id} in payout ${id}`, '$50.000000', 'not booked'],
      [`payment ${held}`, 'in a payout', expect.stringMatching(/^available since .*Z$/)],
      [''],
    ]);

    const { json, code: jsonCode } = await report('payouts', '--month', MONTH, '--json');
    expect(jsonCode).toBe(1);
    expect(json).toMatchObject({
      month: MONTH,
      so_far: true,
      ok: false,
      payouts: [
        { status: 'paid', currency: 'usd', gross: 3000, reversed: -500, fees: -147, other: 0, net: 2353 },
        { id, gross: 5000, fees: -175, net: 4825, created_at: expect.stringMatching(/Z$/) },
      ],
      totals: [{ currency: 'usd', gross: 8000, net: 7178 }],
      waiting: [],
      differences: [{ found: 'not booked' }, { expected: 'in a payout' }],
    });
  });

  it('leaves payouts that came back out of the total', async () => {
    app.sandbox.control.payOut({ status: 'failed', arrivalDate: now() });
    const { json } = await report('payouts', '--month', MONTH, '--json');
    expect(json.payouts).toHaveLength(3);
    expect(json.totals).toMatchObject([{ net: 7178 }]);
  });

  it('needs a provider', async () => {
    const env = { DATABASE_URL: app.service.deps.db.options.connectionString!, PAYMENTS: 'none' };
    expect(await runAdmin(env, 'report', 'payouts', '--month', MONTH)).toMatchObject({
      code: 2,
      err: expect.stringContaining('the payment provider is unknown'),
    });
  });
});
