import { beforeEach, describe, expect, test, vi } from 'vitest';
import { insertUsage, participantsOf } from '../../control/people/support.ts';
import { createCredential, expectJoined, join } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
let tenant: TestTenant;

const erase = (...args: string[]) =>
  runAdmin({ DATABASE_URL: app.ownerUrl }, 'participants', 'erase', tenant.id, ...args);

beforeEach(async () => {
  tenant = await app.paidTenant();
});

describe('participants erase', () => {
  test('waits until the name is gone, and says from how many rows', async () => {
    await insertUsage(db(), idOf(tenant), { participants: ['ann', 'bob'], count: 8_000 });
    expect(await erase('ann')).toMatchObject({
      code: 0,
      out: `erased from 4000 usage records and 0 other rows of ${tenant.id}\n`,
      err: '',
    });
    expect(await participantsOf(db(), idOf(tenant))).toEqual({ '(erased)': 4_000, bob: 4_000 });
    const { rows } = await db().query('select name, state from erasures where tenant_id = $1', [
      idOf(tenant),
    ]);
    expect(rows).toEqual([{ name: null, state: 'done' }]);
  });

  test('prints JSON', async () => {
    expect((await erase('nobody', '--json')).json).toEqual({
      id: expect.stringMatching(/^er_/),
      tenant: tenant.id,
      records: 0,
      others: 0,
    });
  });

  test('waits for a part that somebody else is at work on, and shows how far it is', async () => {
    await insertUsage(db(), idOf(tenant), { participants: ['ann'], count: 10 });
    const holder = await openHolder(db());
    await holder.query('select from accounts where tenant_id = $1 for no key update', [idOf(tenant)]);
    const erasing = erase('ann');
    // This step waits for the account.
    await expect
      .poll(
        async () => (await db().query('select step from erasures where tenant_id = $1', [idOf(tenant)])).rows,
      )
      .toEqual([{ step: 'usage_conflicts' }]);
    const written = () => vi.mocked(process.stderr.write).mock.calls.length;
    await expect.poll(written).toBeGreaterThan(0);
    await holder.release();
    expect(await erasing).toMatchObject({
      code: 0,
      out: expect.stringContaining('10 usage records'),
      err: expect.stringMatching(/^(erasing: \d+ usage records ...\n)+$/),
    });
  });

  test('works for a tenant that was deleted', async () => {
    await insertUsage(db(), idOf(tenant), { participants: ['ann'], count: 1 });
    await db().query(`update tenants set status = 'deleted' where id = $1`, [idOf(tenant)]);
    expect(await erase('ann')).toMatchObject({ code: 0, out: expect.stringContaining('1 usage records') });
  });

  test('refuses somebody who is in a room', async () => {
    const { credential } = await createCredential(app, tenant);
    expectJoined(await join(app, credential, { username: 'ann' }));
    expect(await erase('ann')).toMatchObject({
      code: 1,
      out: '',
      err: 'participant is in a room: end the session first\n',
    });
  });

  test.each([
    ['', 'participant must be 1 to 200 characters'],
    ['a'.repeat(201), 'participant must be 1 to 200 characters'],
    ['(erased)', 'participant must be a name'],
  ])('refuses %j', async (name, message) => {
    expect(await erase(name)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  test('fails for an unknown tenant, and is not understood without a name', async () => {
    const env = { DATABASE_URL: app.ownerUrl };
    expect(await runAdmin(env, 'participants', 'erase', 't_0000000000000000', 'ann')).toMatchObject({
      code: 1,
      err: 'tenant not found\n',
    });
    expect(await runAdmin(env, 'participants', 'erase', tenant.id)).toMatchObject({ code: 2 });
  });
});
