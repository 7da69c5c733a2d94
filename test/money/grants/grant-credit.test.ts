/** Grants by operators: what they do to the balance, and which are refused. */
import { describe, expect, it } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findBalance } from '../../../src/money/accounts/accounts.sql.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { GRANT_MAX, GRANTS_OPEN_MAX } from '../../../src/money/grants/grant.ts';
import { type GivenGrant, grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import { listGrants } from '../../../src/money/grants/list-grants.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { post } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { pass, spend } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const active = () => makeTenant(db(), { status: 'active' });

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Returns the id. */
async function grant(tenant: TenantId, amount: bigint, given: Partial<GivenGrant> = {}): Promise<string> {
  const whole = { amount, reason: 'a gift', expiresAt: undefined, key: undefined, ...given };
  return (await grantCredit(db(), OPERATOR, tenant, whole)).grant.id;
}

const voidIt = (tenant: TenantId, id: string) =>
  voidGrant(db(), OPERATOR, tenant, { id, reason: 'a mistake' });

/** What is left of each, the oldest first. */
async function leftOf(tenant: TenantId): Promise<string[]> {
  const { items } = (await listGrants(db(), tenant))!;
  return items.map(({ state, left, forfeited }) => `${state} ${left} ${forfeited}`).reverse();
}

async function postingsOf(tenant: TenantId): Promise<string[]> {
  const { rows } = await db().query(
    'select kind, amount, balance from postings where tenant_id = $1 order by seq',
    [tenant],
  );
  return rows.map(({ kind, amount, balance }) => `${kind} ${amount} ${balance}`);
}

describe('a grant', () => {
  it('is spent before paid credit, the earliest end first', async () => {
    const tenant = await active();
    await post(db(), tenant, { kind: 'adjustment', amount: 100n });
    await grant(tenant, 10n);
    await grant(tenant, 10n, { expiresAt: inDays(20) });
    await grant(tenant, 10n, { expiresAt: inDays(10) });
    await spend(db(), tenant, 14n);
    expect(await leftOf(tenant)).toEqual(['active 10 0', 'active 6 0', 'spent 0 0']);
    await spend(db(), tenant, 17n);
    expect(await leftOf(tenant)).toEqual(['spent 0 0', 'spent 0 0', 'spent 0 0']);
    expect(await findBalance(db(), tenant)).toBe(99n);
  });

  it('leaves at its end with what is left, by a posting of its own', async () => {
    const tenant = await active();
    await grant(tenant, 10n, { expiresAt: inDays(10) });
    await spend(db(), tenant, 4n);
    await pass(db(), tenant, 10);
    expect(await leftOf(tenant)).toEqual(['expired 0 6']);
    await spend(db(), tenant, 1n);
    await endGrants(app.service.deps);
    await endGrants(app.service.deps);
    expect(await leftOf(tenant)).toEqual(['expired 0 6']);
    expect(await postingsOf(tenant)).toEqual([
      'grant 10 10',
      'usage -4 6',
      'usage -1 5',
      'grant_expired -6 -1',
    ]);
  });

  it('keeps its order with another that has the same end: the older one pays first', async () => {
    const tenant = await active();
    const expiresAt = inDays(3);
    await grant(tenant, 5n, { expiresAt });
    await grant(tenant, 5n, { expiresAt });
    await spend(db(), tenant, 6n);
    await pass(db(), tenant, 3);
    await endGrants(app.service.deps);
    expect(await leftOf(tenant)).toEqual(['spent 0 0', 'expired 0 4']);
  });

  it('first pays what is owed, so that its end owes nothing', async () => {
    const tenant = await active();
    await post(db(), tenant, { kind: 'adjustment', amount: -4n });
    await grant(tenant, 10n, { expiresAt: inDays(2) });
    expect(await leftOf(tenant)).toEqual(['active 6 0']);
    await grant(tenant, 1n);
    await pass(db(), tenant, 2);
    await endGrants(app.service.deps);
    expect(await findBalance(db(), tenant)).toBe(1n);
  });

  it('does not pay for what a refund takes back', async () => {
    const tenant = await active();
    await post(db(), tenant, { kind: 'adjustment', amount: 20n });
    await spend(db(), tenant, 15n);
    await grant(tenant, 10n, { expiresAt: inDays(2) });
    await post(db(), tenant, { kind: 'adjustment', amount: -20n });
    expect(await leftOf(tenant)).toEqual(['active 10 0']);
    expect(await findBalance(db(), tenant)).toBe(-5n);
  });

  it('of an exempt tenant is not spent, and ends all the same', async () => {
    const tenant = await makeTenant(db(), { status: 'active', exempt: true });
    await grant(tenant, 10n, { expiresAt: inDays(2) });
    await pass(db(), tenant, 2);
    await endGrants(app.service.deps);
    expect(await leftOf(tenant)).toEqual(['expired 0 10']);
  });

  it('of an archived tenant ends all the same; a deleted one gets none', async () => {
    const tenant = await makeTenant(db(), { status: 'archived' });
    await grant(tenant, 10n, { expiresAt: inDays(2) });
    await pass(db(), tenant, 2);
    await endGrants(app.service.deps);
    expect(await findBalance(db(), tenant)).toBe(0n);
    const deleted = await makeTenant(db(), { status: 'deleted' });
    await expect(grant(deleted, 1n)).rejects.toThrow('the tenant is deleted');
  });

  it('is granted once for each key, and another one with the key is refused', async () => {
    const tenant = await active();
    const expiresAt = inDays(9);
    const given = { key: 'spring', expiresAt };
    const [id, ...others] = await Promise.all(Array.from({ length: 8 }, () => grant(tenant, 5n, given)));
    expect(new Set(others)).toEqual(new Set([id]));
    expect(await findBalance(db(), tenant)).toBe(5n);
    for (const other of [{ key: 'spring' }, { ...given, reason: 'another' }]) {
      await expect(grant(tenant, 5n, other)).rejects.toThrow('this id was used for another grant');
    }
    await expect(grant(tenant, 6n, given)).rejects.toThrow('this id was used for another grant');
    await expect(grant(await active(), 6n, given)).resolves.toMatch(/^gr_/);
  });

  it.each([0n, -1n, GRANT_MAX + 1n, 2n ** 63n, 2n ** 100n])('of %s is refused', async (amount) => {
    await expect(grant(await active(), amount)).rejects.toThrow('amount must be more than $0');
  });

  it('is refused if it would take the balance beyond 64 bits, or must be typed twice', async () => {
    const tenant = await active();
    await post(db(), tenant, { kind: 'adjustment', amount: 2n ** 63n - 5n });
    await expect(grant(tenant, 6n)).rejects.toThrow('would leave the range of 64 bits');
    const large = 2_000_000_000n;
    await expect(grant(await active(), large, { confirmed: { amount: 1n } })).rejects.toThrow('--confirm');
    await expect(grant(await active(), large, { confirmed: { amount: large } })).resolves.toMatch(/^gr_/);
  });

  it.each([-1, 0, 1 / 86_400])('that ends in %s days is refused', async (days) => {
    await expect(grant(await active(), 1n, { expiresAt: inDays(days) })).rejects.toThrow(
      'expires must be 60 seconds ahead or more',
    );
  });

  it('is refused if a clock that jumped has put the ledger behind its end', async () => {
    const tenant = await active();
    await post(db(), tenant, { kind: 'adjustment', amount: 1n });
    await pass(db(), tenant, -30);
    await expect(grant(tenant, 1n, { expiresAt: inDays(29) })).rejects.toThrow('expires must be');
    await grant(tenant, 1n, { expiresAt: inDays(31) });
  });

  it(`is refused beside ${GRANTS_OPEN_MAX} others that are not spent`, async () => {
    const tenant = await active();
    for (let count = 0; count < GRANTS_OPEN_MAX; count += 1) await grant(tenant, 1n);
    await expect(grant(tenant, 1n)).rejects.toThrow('grants that are not spent: void one first');
    await spend(db(), tenant, 1n);
    await grant(tenant, 1n);
  });
});

describe('voiding a grant', () => {
  it('takes what is left, once, and nothing of a spent one', async () => {
    const tenant = await active();
    const [one, spent] = [await grant(tenant, 10n), await grant(tenant, 2n, { expiresAt: inDays(5) })];
    await spend(db(), tenant, 5n);
    expect(await voidIt(tenant, one)).toMatchObject({ posted: true, balance: 0n, grant: { forfeited: 7n } });
    expect(await voidIt(tenant, one)).toMatchObject({ posted: false, grant: { forfeited: 7n } });
    expect(await voidIt(tenant, spent)).toMatchObject({ posted: false, grant: { forfeited: 0n } });
    expect(await leftOf(tenant)).toEqual(['voided 0 7', 'spent 0 0']);
  });

  it('fails for one that has expired, and for one of another tenant', async () => {
    const tenant = await active();
    const id = await grant(tenant, 10n, { expiresAt: inDays(1) });
    await expect(voidIt(await active(), id)).rejects.toMatchObject({ kind: 'not_found' });
    await pass(db(), tenant, 1);
    await expect(voidIt(tenant, id)).rejects.toThrow('this grant has expired');
  });
});

it('an adjustment moves paid credit only', async () => {
  const tenant = await active();
  await grant(tenant, 10n);
  await adjustCredit(db(), OPERATOR, tenant, { amount: -4n, reason: 'test', id: undefined });
  expect(await leftOf(tenant)).toEqual(['active 10 0']);
});
