import { afterAll, describe, expect, it } from 'vitest';
import { measureBurns } from '../../../src/money/alerts/measure-burn.ts';
import { compareAlerts } from '../../../src/money/verification/compare-alerts.sql.ts';
import { report } from '../../doors/rest/ledger-routes.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { eventsOf } from '../../support/events.ts';
import { moveInTime, post } from '../../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { alertsOf, runway, setAlerts } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;

afterAll(async () => {
  expect(await checkLedger(db())).toEqual([]);
  expect(await compareAlerts(db())).toEqual([]);
});

/** One host of an hour costs 25,146 micros, or one less by the carry. */
const hour = () => usageRecord({ tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 });
const hours = (count: number) => Array.from({ length: count }, hour);

/** Make usage due to be measured, and measure it by two processes at once. */
async function measure(tenant: TestTenant): Promise<void> {
  await db().query(
    `update alert_thresholds set measured_at = now() - interval '1 minute' where tenant_id = $1 and kind = 'runway'`,
    [idOf(tenant)],
  );
  await Promise.all([measureBurns(app.service.deps), measureBurns(app.service.deps)]);
}

/** Move all that was posted so far into the past. */
async function age(tenant: TestTenant, byHours: number): Promise<void> {
  const { rows } = await db().query(
    `select at - make_interval(secs => $2 * 3600) as at from postings where tenant_id = $1 order by seq`,
    [idOf(tenant), byHours],
  );
  await moveInTime(
    db(),
    idOf(tenant),
    rows.map(({ at }) => at.toISOString()),
  );
}

describe('a threshold of hours', () => {
  it('is raised by the charge that falls below it, and says how long the credit lasts', async () => {
    const tenant = await app.paidTenant();
    await report(app, tenant, hours(10));
    // 10 hours cost 0.25 dollars: the rest lasts 78 hours at this rate.
    await setAlerts(app, tenant, runway(70));
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    await measure(tenant);
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    await post(db(), idOf(tenant), { kind: 'adjustment', amount: -10_000_000n });
    const [{ type, subject } = { type: '', subject: {} }] = await eventsOf(db(), idOf(tenant));
    expect({ type, subject }).toEqual({
      type: 'runway_low',
      subject: {
        balance: '9748543',
        belowHours: 70,
        burnPerHour: '251457',
        runwayHours: 38.76,
        emptyAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    });
    const left = Date.parse(subject.emptyAt) - Date.now();
    expect(left / 3_600_000).toBeCloseTo(9_748_543 / 251_457, 1);
  });

  it('is raised once by measuring, when usage rises', async () => {
    const tenant = await app.paidTenant();
    await setAlerts(app, tenant, runway(48));
    await report(app, tenant, hours(10));
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    await report(app, tenant, hours(10));
    await measure(tenant);
    await measure(tenant);
    expect(await alertsOf(db(), idOf(tenant))).toEqual([expect.stringMatching(/^runway_low 48 at 194970/)]);
  });

  it('ends a tenth above its floor, so that a burn that moves a little repeats no alert', async () => {
    const tenant = await app.paidTenant();
    await report(app, tenant, hours(10));
    await setAlerts(app, tenant, runway(100));
    const floor = 251_457n * 100n;
    const raise = async (to: bigint) => {
      const { rows } = await db().query('select balance from accounts where tenant_id = $1', [idOf(tenant)]);
      await post(db(), idOf(tenant), { kind: 'adjustment', amount: to - BigInt(rows[0].balance) });
    };
    const alerts = () => alertsOf(db(), idOf(tenant));
    expect(await alerts()).toEqual(['runway_low 100 at 19748543']);
    await raise(floor);
    await raise(floor + floor / 10n - 1n);
    expect(await alerts()).toHaveLength(1);
    await raise(floor + floor / 10n);
    expect((await alerts()).slice(1)).toEqual(['runway_recovered 100 at 27660270']);
    await raise(floor);
    expect(await alerts()).toHaveLength(2);
    await raise(floor - 1n);
    expect((await alerts()).slice(2)).toEqual(['runway_low 100 at 25145699']);
  });

  it('goes by the last hour or the last day, whichever took more an hour', async () => {
    const tenant = await app.paidTenant();
    await report(app, tenant, hours(24));
    await setAlerts(app, tenant, runway(30));
    expect(await alertsOf(db(), idOf(tenant))).toHaveLength(0);
    await setAlerts(app, tenant, runway(40));
    expect(await alertsOf(db(), idOf(tenant))).toHaveLength(1);
    await age(tenant, 2);
    await measure(tenant);
    const events = await eventsOf(db(), idOf(tenant));
    expect(events.at(-1)).toMatchObject({ type: 'runway_recovered', subject: { burnPerHour: '25146' } });
  });

  it('ends when nothing is used any more, even without credit', async () => {
    const tenant = await app.signUp();
    await report(app, tenant, hours(1));
    await setAlerts(app, tenant, runway(1));
    expect(await alertsOf(db(), idOf(tenant))).toEqual(['runway_low 1 at -25146']);
    expect((await eventsOf(db(), idOf(tenant))).at(-1)!.subject).toMatchObject({
      runwayHours: 0,
      emptyAt: null,
    });
    await age(tenant, 25);
    await measure(tenant);
    const { type, subject } = (await eventsOf(db(), idOf(tenant))).at(-1)!;
    expect({ type, subject }).toEqual({
      type: 'runway_recovered',
      subject: { balance: '-25146', belowHours: 1, burnPerHour: '0', runwayHours: null, emptyAt: null },
    });
  });

  it('is measured in turns, though one account cannot be measured', async () => {
    const [broken, good] = [await app.paidTenant(), await app.paidTenant()];
    await setAlerts(app, broken, runway(48));
    await setAlerts(app, good, runway(48));
    await report(app, good, hours(20));
    await db().query(`alter table alert_thresholds add constraint refuse_burn
      check (tenant_id <> ${idOf(broken)} or measured_at < '${new Date().toISOString()}') not valid`);
    try {
      await db().query(
        `update alert_thresholds set measured_at = now() - interval '1 hour' where tenant_id = $1`,
        [idOf(broken)],
      );
      await measure(good);
      expect(await alertsOf(db(), idOf(good))).toHaveLength(1);
    } finally {
      await db().query('alter table alert_thresholds drop constraint refuse_burn');
    }
  });
});
