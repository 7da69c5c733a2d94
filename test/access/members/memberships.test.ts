import { beforeAll, expect, test } from 'vitest';
import { insertMember } from '../../../src/access/members/members.sql.ts';
import {
  findInvitation,
  findInvitations,
  findLastUsedTenant,
  findOwnTenant,
  findOwnTenants,
} from '../../../src/access/members/memberships.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const ANN = 'ann@example.com';
const ALL = { after: undefined, limit: 10 };
const made = new Map<string, TenantId>();

/** A tenant of this status, in which Ann is a member who was there so many days ago, or only invited. */
async function make(name: string, status: string, daysAgo: number | undefined): Promise<void> {
  const { pool } = database;
  const tenant = await makeTenant(pool);
  await inTransaction(pool, async (tx) => {
    for (const email of [ANN, 'bob@example.com']) await insertMember(tx, tenant, { email, role: 'viewer' });
  });
  if (daysAgo !== undefined) {
    await pool.query(
      'update members set joined_at = now(), last_used_at = now() - make_interval(days => $2) where tenant_id = $1',
      [tenant, daysAgo],
    );
  }
  await pool.query('update tenants set status = $2 where id = $1', [tenant, status]);
  made.set(name, tenant);
}

beforeAll(async () => {
  await make('old', 'active', 3);
  await make('suspended', 'suspended', 1);
  await make('new', 'pending', 2);
  await make('deleted', 'deleted', 0);
  await make('invited', 'active', undefined);
  await make('invited to a suspended one', 'suspended', undefined);
});

const namesOf = (tenants: readonly { readonly tenant: TenantId }[]) =>
  tenants.map(({ tenant }) => [...made].find(([, id]) => id === tenant)![0]);

test('own tenants are those of which the person is a member, the last used first, without deleted ones', async () => {
  expect(namesOf(await findOwnTenants(database.pool, ANN, ALL))).toEqual(['suspended', 'new', 'old']);
  const rest = await findOwnTenants(database.pool, ANN, { after: made.get('suspended'), limit: 1 });
  expect(namesOf(rest)).toEqual(['new']);
});

test('the tenant that was used last has a console, if any has', async () => {
  expect(namesOf([(await findLastUsedTenant(database.pool, ANN))!])).toEqual(['new']);
});

test('invitations are those that wait for a yes, of tenants that have a console', async () => {
  expect(namesOf(await findInvitations(database.pool, ANN, ALL))).toEqual(['invited']);
});

test.each([
  ['old', 'own'],
  ['suspended', 'own'],
  ['deleted', 'nothing'],
  ['invited', 'invitation'],
  ['invited to a suspended one', 'nothing'],
])('of the tenant "%s", the person has: %s', async (name, what) => {
  const tenant = made.get(name)!;
  const own = await findOwnTenant(database.pool, ANN, tenant);
  const invitation = await findInvitation(database.pool, ANN, tenant);
  expect([own !== undefined, invitation !== undefined]).toEqual([what === 'own', what === 'invitation']);
  for (const find of [findOwnTenant, findInvitation])
    expect(await find(database.pool, 'eve@example.com', tenant)).toBeUndefined();
});
