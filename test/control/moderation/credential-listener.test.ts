/** Participants whose device credential is revoked: they leave, unless they have another device. */
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { expect, test } from 'vitest';
import { createCredential, deviceKey, expectJoined, join } from '../../support/devices.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { eventsSince, mint, newStage } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { getParticipant } = ParticipantService.method;

test('a user who has only tokens of a revoked credential leaves, and others lose a device at most', async () => {
  const stage = await newStage(app, controlOf);
  const { id, credential } = await createCredential(app, stage.tenant);
  const other = await createCredential(app, stage.tenant);
  const enter = async (by: string, username: string) =>
    expectJoined(await join(app, by, { username, room: 'lobby', key: deviceKey() })).device;
  await enter(credential, 'ann');
  await enter(credential, 'bob');
  const kept = await enter(other.credential, 'bob');
  await enter(other.credential, 'eve');
  await mint(stage, 'dan');
  const find = async (username: string) =>
    (await stage.control.call(getParticipant, { room: 'lobby', username })).participant!;
  await app.request('DELETE', `/v1/device-credentials/${id}`, { key: stage.tenant.key });

  await expect.poll(() => find('ann')).toMatchObject({ leaveReason: 'expired', devices: [] });
  expect(await find('bob')).toMatchObject({ leaveReason: '', devices: [{ thumbprint: kept }] });
  for (const name of ['eve', 'dan']) expect(await find(name)).toMatchObject({ leaveReason: '' });
  const told = (await eventsSince(app, stage.tenant)).filter(({ type }) =>
    /participant_(left|updated)/.test(type),
  );
  expect(told.map(({ type, subject }) => [type, (subject as { username: string }).username])).toEqual([
    ['participant_updated', 'bob'],
    ['participant_left', 'ann'],
  ]);
  // Another credential lets the user in again.
  await enter(other.credential, 'ann');
  expect(await find('ann')).toMatchObject({ leaveReason: '' });
});
