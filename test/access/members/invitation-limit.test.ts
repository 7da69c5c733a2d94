import { describe, expect, test } from 'vitest';
import {
  INVITATIONS_LIMIT,
  INVITATIONS_OF_NETWORK,
  INVITATIONS_OF_RECEIVER,
  InvitationLimit,
} from '../../../src/access/members/invitation-limit.ts';
import { newTenantId, type TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

const newTenant = (status: TenantStatus, limits: { invitations_per_day: number } | null = null) => ({
  id: newTenantId(),
  status,
  limits,
});
let clients = 0;
/** A client of a network without invitations so far. */
const newClient = () => {
  clients += 1;
  return `10.0.${Math.floor(clients / 250)}.${clients % 250}`;
};
/** Two processes. */
const processes = () => [new InvitationLimit(database.pool), new InvitationLimit(database.pool)] as const;

describe('invitations of a day', () => {
  test.each([
    ['a tenant that never paid', newTenant('pending'), INVITATIONS_LIMIT.pending],
    ['a tenant that paid', newTenant('active'), INVITATIONS_LIMIT.active],
    ['a tenant with a limit of its own', newTenant('pending', { invitations_per_day: 3 }), 3],
  ])('%s sends some', async (what, tenant, max) => {
    const limits = processes();
    const invite = (at: number) =>
      limits[at % 2]!.count(tenant, { email: `${at}.${max}@example.com`, address: newClient() });
    for (let at = 0; at < max; at += 1) await invite(at);
    await expect(invite(max), what).rejects.toMatchObject({
      kind: 'too_many_invitations',
      message: `limit reached: at most ${max} invitations a day`,
      metadata: { limit: 'invitations_per_day' },
      retryAfter: expect.closeTo(86_400, -2),
    });
  });

  test.each(['pending', 'active'] as const)('one receiver gets few of all %s tenants', async (status) => {
    const limits = processes();
    const invite = (at: number) =>
      limits[at % 2]!.count(newTenant(status), {
        email: `stranger-${status}@example.com`,
        address: newClient(),
      });
    for (let at = 0; at < INVITATIONS_OF_RECEIVER[status]; at += 1) await invite(at);
    for (let at = 0; at < 20; at += 1) {
      await expect(invite(at)).rejects.toMatchObject({
        kind: 'too_many_invitations',
        message: 'too many invitations of this address today',
        retryAfter: expect.any(Number),
      });
    }
  });

  test('a crowd of tenants that never paid takes none from one that paid', async () => {
    const [limit] = processes();
    const email = 'wanted@example.com';
    for (let at = 0; at < 20; at += 1)
      await limit.count(newTenant('pending'), { email, address: newClient() }).catch(() => {});
    await limit.count(newTenant('active'), { email, address: newClient() });
  });

  test('one network sends some, for whatever tenants', async () => {
    const limits = processes();
    const invite = (at: number) =>
      limits[at % 2]!.count(newTenant('active'), {
        email: `${at}@example.net`,
        address: `2001:db8::${at.toString(16)}`,
      });
    for (let at = 0; at < INVITATIONS_OF_NETWORK; at += 1) await invite(at);
    await expect(invite(INVITATIONS_OF_NETWORK)).rejects.toMatchObject({
      kind: 'too_many_invitations',
      message: 'too many invitations from your network today',
    });
  });

  test('that are sent again count only if they are sent', async () => {
    const [limit] = processes();
    const tenant = newTenant('pending', { invitations_per_day: 2 });
    const to = { email: 'again@example.org', address: newClient() };
    const again = (email = to.email) => limit.countAgain(tenant, { ...to, email }, async () => 'sent');
    const refused = { kind: 'not_found' };
    for (let at = 0; at < 3; at += 1)
      await expect(limit.countAgain(tenant, to, () => Promise.reject(refused))).rejects.toBe(refused);
    expect(await again()).toBe('sent');
    for (let at = 0; at < INVITATIONS_OF_RECEIVER.pending; at += 1)
      await limit.count(newTenant('pending'), { email: 'full@example.org', address: newClient() });
    // Another limit refuses these.
    for (let at = 0; at < 3; at += 1)
      await expect(again('full@example.org')).rejects.toMatchObject({
        message: 'too many invitations of this address today',
      });
    expect(await again()).toBe('sent');
    await expect(again()).rejects.toMatchObject({ metadata: { limit: 'invitations_per_day' } });
  });
});
