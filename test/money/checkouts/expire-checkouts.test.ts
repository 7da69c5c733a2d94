import { describe, expect, it } from 'vitest';
import type { TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { insertCheckout, updateCheckoutSession } from '../../../src/money/checkouts/checkouts.sql.ts';
import { expireCheckouts } from '../../../src/money/checkouts/expire-checkouts.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import type { TestTenant } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { GOOD_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;
const EXPIRE = { method: 'POST', path: '/v1/checkout/sessions/*/expire' } as const;

async function openCheckout(tenant: TestTenant): Promise<string> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 1000 },
  });
  expect(answer.status, answer.text).toBe(200);
  return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
}

async function move(tenant: TestTenant, status: TenantStatus): Promise<void> {
  await changeStatus(db(), OPERATOR, kit.idOf(tenant), status, 'test');
  app.service.deps.events.wake(kit.idOf(tenant));
}

interface Row {
  readonly state: string;
  readonly due: boolean | null;
}

async function rowOf(session: string): Promise<Row> {
  const { rows } = await db().query(
    'select state, expire_at <= now() as due from checkouts where session_id = $1',
    [session],
  );
  return rows[0];
}

/** The state of the checkout here and at the provider, after a look at pages that are due. */
async function statesOf(session: string): Promise<[string, string | null]> {
  await expireCheckouts(app.service.deps, app.service.deps.provider!);
  const { status } = await app.stripe.checkout.sessions.retrieve(session);
  return [(await rowOf(session)).state, status];
}

const SOON = { interval: 20 };

describe('the payment pages of a tenant', () => {
  it('are closed at the provider when it is deleted', async () => {
    const tenant = await app.paidTenant();
    const sessions = [await openCheckout(tenant), await openCheckout(tenant)];
    await move(tenant, 'deleted');
    for (const session of sessions) {
      await expect.poll(() => statesOf(session), SOON).toEqual(['expired', 'expired']);
    }
  });

  it('stay open when it is suspended', async () => {
    const [suspended, deleted] = [await app.paidTenant(), await app.paidTenant()];
    const [open, closed] = [await openCheckout(suspended), await openCheckout(deleted)];
    await move(suspended, 'suspended');
    await move(deleted, 'deleted');
    await expect.poll(() => statesOf(closed), SOON).toEqual(['expired', 'expired']);
    expect(await statesOf(open)).toEqual(['open', 'open']);
    expect(await rowOf(open)).toMatchObject({ due: null });
  });

  it('are closed later if the provider does not answer', async () => {
    const tenant = await app.paidTenant();
    const session = await openCheckout(tenant);
    // One for this page, and one for that of the signup.
    app.sandbox.control.fault({ effect: 'fail_500', ...EXPIRE, count: 2 });
    await move(tenant, 'deleted');
    await expect.poll(() => app.sandbox.control.waitingFaults(), SOON).toEqual([]);
    await expect.poll(() => rowOf(session), SOON).toEqual({ state: 'open', due: false });
    await db().query('update checkouts set expire_at = now() where session_id = $1', [session]);
    await expect.poll(() => statesOf(session), SOON).toEqual(['expired', 'expired']);
  });

  it('that expired meanwhile are recorded as expired, even without an event', async () => {
    const tenant = await app.paidTenant();
    const session = await openCheckout(tenant);
    app.sandbox.control.fault({ effect: 'drop', event: '*' });
    app.sandbox.control.expireCheckout(session);
    await app.settled();
    expect(await rowOf(session)).toMatchObject({ state: 'open' });
    await move(tenant, 'deleted');
    await expect.poll(() => statesOf(session), SOON).toEqual(['expired', 'expired']);
  });

  it('are closed even if they were opened while it was being deleted', async () => {
    const tenant = await app.paidTenant();
    const other = await app.paidTenant();
    const session = await openCheckout(other);
    await db().query('update checkouts set session_id = null where session_id = $1', [session]);
    await move(tenant, 'deleted');
    const id = 'co_00000000000000000000000000000001';
    await insertCheckout(db(), { id, tenant: kit.idOf(tenant), amount: 10_000_000n });
    await updateCheckoutSession(db(), id, session);
    await expect.poll(() => statesOf(session), SOON).toEqual(['expired', 'expired']);
  });
});

it('a payment that a deleted tenant made all the same is parked, and operators are alarmed', async () => {
  const tenant = await app.paidTenant();
  const session = await openCheckout(tenant);
  app.sandbox.control.fault({ effect: 'reorder', event: '*', count: 99 });
  const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
  await move(tenant, 'deleted');
  const due = async () => {
    await expireCheckouts(app.service.deps, app.service.deps.provider!);
    const { rows } = await db().query(
      `select 1 from event_cursors where listener = 'checkouts' and tenant_id = $1
          and seq >= (select max(seq) from events where tenant_id = $1 and type = 'tenant_status_changed')`,
      [kit.idOf(tenant)],
    );
    return rows.length === 1 && (await rowOf(session)).due;
  };
  await expect.poll(due, SOON).toBe(null);
  await app.sandbox.control.release();
  await app.settled();
  kit.expectUncredited(id);
  expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  const { rows } = await db().query(
    `select distinct outcome, reason from provider_events where reason like '%' || $1 || '%'`,
    [id],
  );
  const reason = `payment ${id} was made for ${tenant.id}, which is deleted: refund it at the provider`;
  expect(rows).toEqual([{ outcome: 'parked', reason }]);
  const { values } = await app.service.deps.metrics.deletedTenantPayments.get();
  expect(values[0]!.value).toBeGreaterThanOrEqual(1);
});
