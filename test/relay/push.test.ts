/** What ends sessions from outside: revoked device credentials, another device, budgets, and whether the tenant is admitted. */
import { expect, test, vi } from 'vitest';
import { put, wanted } from '../control/budgets/support.ts';
import { createCredential, spendAll } from '../support/devices.ts';
import { picturesOf, SIZE, sees, useRelay } from './support.ts';

const meeting = await useRelay();
const { app, enter, meet } = meeting;

test('a device credential that is revoked during a call ends its sessions, and no others', async () => {
  const { ann, bob } = await meet('revoked');
  const { id, credential } = await createCredential(app, meeting.tenant, { publish: ['audio', 'video'] });
  const eve = await enter('eve', 'revoked', { credential });
  await eve.ask('connect', { relay: meeting.relay.url, size: SIZE });
  await sees(eve);
  await app.request('DELETE', `/v1/device-credentials/${id}`, { key: meeting.tenant.key });
  await expect.poll(() => eve.heard('moderated')).toMatchObject([{ code: 'credential_revoked' }]);
  expect(await eve.ask('refusal', { relay: meeting.relay.url, token: eve.token })).toMatchObject({
    status: 403,
    code: 'TOKEN_REVOKED',
    reason: 'credential_revoked',
  });
  await sees(bob);
  for (const each of [ann, bob]) expect(await each.heard('moderated')).toEqual([]);
});

test('a device that publishes under the name of another one replaces it, and the other one is told', async () => {
  const { ann, bob } = await meet('replaced');
  const second = await enter('ann', 'replaced');
  await second.ask('connect', { relay: meeting.relay.url, size: SIZE });
  await expect.poll(() => ann.heard('moderated')).toMatchObject([{ code: 'REPLACED' }]);
  await sees(bob);
  expect(await second.heard('moderated')).toEqual([]);
  const third = await enter('ann', 'replaced');
  await third.ask('connect', { relay: meeting.relay.url, size: SIZE, codec: 'video/H264' });
  await expect.poll(async () => (await picturesOf(bob))[0]?.codec).toBe('video/H264');
  await sees(bob);
});

test('a spent budget ends sessions whose tokens it pays for, and refuses new ones', async () => {
  const { bob } = await meet('unlimited');
  const { db } = app.service.deps;
  await put(app, meeting.tenant, wanted({ room: 'limited', max: 10_000_000n }));
  const { ann } = await meet('limited');
  const dan = await enter('dan', 'limited');
  await put(app, meeting.tenant, wanted({ room: 'limited', max: 0n }));
  const metrics = async () => (await fetch(`${meeting.relay.url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/relay_sessions_ended_total\{code="BUDGET_REACHED"\} [1-9]/);
  await expect.poll(() => ann.heard('moderated')).toMatchObject([{ code: 'BUDGET_REACHED' }]);
  expect(await dan.ask('refusal', { relay: meeting.relay.url })).toMatchObject({
    status: 402,
    code: 'NOT_ADMITTED',
  });
  await sees(bob);
  await db.query('delete from budgets');
});

test('spent credit refuses new sessions while running ones go on, and paid credit admits them again', async () => {
  const { bob } = await meet('spent');
  const [dan, eve] = [await enter('dan', 'spent'), await enter('eve', 'spent')];
  const refusalOf = async (participant: typeof dan) =>
    (await participant.ask<{ code: string; status: number } | undefined>('refusal', {
      relay: meeting.relay.url,
    })) ?? 'none';
  // So answers to usage tell nothing.
  const charges = vi.spyOn(app.service.deps.charges, 'charge').mockRejectedValue(new Error('not now'));
  await spendAll(app, meeting.tenant);
  await expect.poll(() => refusalOf(dan)).toMatchObject({ status: 402, code: 'NOT_ADMITTED' });
  await sees(bob);
  await app.pay(meeting.tenant);
  await expect.poll(() => refusalOf(eve)).toBe('none');
  charges.mockRestore();
});
