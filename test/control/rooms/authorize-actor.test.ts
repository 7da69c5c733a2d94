/** Participants as actors: which rights count when a user has several devices. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { Participant_State } from '@boxoffice/contract/participant';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { beforeEach, describe, expect, test } from 'vitest';
import { lapse, newThumbprint } from '../../doors/grpc/mint.ts';
import {
  createCredential,
  deviceKey,
  expectJoined,
  expectText,
  join,
  thumbprint,
} from '../../support/devices.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { actor, deviceOf, mint, newStage, type Stage } from '../moderation/support.ts';

const app = useService();
const controlOf = useControl(app);
const { getParticipant, listParticipants } = ParticipantService.method;
const { kickParticipant, banSubject } = ModerationService.method;

let stage: Stage;
let credential: string;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
  ({ credential } = await createCredential(app, stage.tenant));
});

const kick = (username: string, by: ReturnType<typeof actor>) =>
  stage.control.call(kickParticipant, { room: 'lobby', username, actor: by });
const find = async (username: string) =>
  (await stage.control.call(getParticipant, { room: 'lobby', username })).participant!;

/** A user types a name at a device. */
async function joinAs(username: string) {
  const key = deviceKey();
  expectJoined(await join(app, credential, { username, room: 'lobby', key }));
  return { username, deviceThumbprint: await thumbprint(key) };
}

test('each device acts with its own token, and never on its own user', async () => {
  const weak = { username: 'bob', deviceThumbprint: newThumbprint() };
  await mint(stage, 'bob', { role: 'host' });
  await mint(stage, 'bob', { device: weak.deviceThumbprint, capabilities: ['chat.send'], rank: 0 });
  await mint(stage, 'cem');
  expect(await failureOf(kick('cem', weak))).toMatchObject({ reason: 'CAPABILITY_REQUIRED' });
  expect(await failureOf(stage.control.call(listParticipants, { room: 'lobby', actor: weak }))).toMatchObject(
    { reason: 'CAPABILITY_REQUIRED' },
  );

  // The last mint lowered the user, but not the other device.
  expect(await find('bob')).toMatchObject({ rank: 0 });
  expect(await failureOf(kick('bob', actor('bob')))).toMatchObject({ reason: 'INSUFFICIENT_STANDING' });
  const subject = { case: 'deviceThumbprint', value: weak.deviceThumbprint } as const;
  expect(
    await failureOf(stage.control.call(banSubject, { room: 'lobby', subject, actor: actor('bob') })),
  ).toMatchObject({ reason: 'INSUFFICIENT_STANDING' });
  await kick('cem', actor('bob'));
});

test('the newest token of a device counts', async () => {
  await mint(stage, 'cem');
  await mint(stage, 'bob', { role: 'host' });
  await mint(stage, 'bob', { capabilities: ['chat.send'] });
  expect(await failureOf(kick('cem', actor('bob')))).toMatchObject({ reason: 'CAPABILITY_REQUIRED' });
  await mint(stage, 'bob', { role: 'host' });
  await kick('cem', actor('bob'));
});

describe('a join under the name of a user who is present with a higher rank', () => {
  const TAKEN = 'username belongs to a user in the room with a higher rank';
  const joinWith = (key: ReturnType<typeof deviceKey>, username = 'ann') =>
    join(app, credential, { username, room: 'lobby', key });

  test('is refused with 409, also for the device of that user', async () => {
    const own = deviceKey();
    const { username, deviceThumbprint } = { username: 'ann', deviceThumbprint: await thumbprint(own) };
    await mint(stage, 'ann', { role: 'host', device: deviceThumbprint });
    await mint(stage, 'cem');
    for (const key of [deviceKey(), own]) {
      expectText(await joinWith(key, 'Ann'), 409, TAKEN);
    }
    expect(await find('ann')).toMatchObject({
      role: 'host',
      rank: 80,
      devices: [{ thumbprint: deviceThumbprint }],
    });
    await kick('cem', { username, deviceThumbprint });
  });

  test('is refused if the higher rank is that of an older token', async () => {
    await mint(stage, 'ann', { rank: 21 });
    await mint(stage, 'ann', { device: newThumbprint(), rank: 0 });
    expectText(await joinWith(deviceKey()), 409, TAKEN);
  });

  test('is refused to a device that joined before that user was minted for', async () => {
    const key = deviceKey();
    expectJoined(await joinWith(key));
    await mint(stage, 'ann', { role: 'host' });
    expectText(await joinWith(key), 409, TAKEN);
    expect(await find('ann')).toMatchObject({ role: 'host', rank: 80 });
  });

  test('is admitted once those tokens have expired, with its own rank', async () => {
    const key = deviceKey();
    expectJoined(await joinWith(key));
    await mint(stage, 'ann', { role: 'host' });
    await app.service.deps.db.query(`update admissions set expires_at = now() where device = $1`, [
      deviceOf('ann'),
    ]);
    expectJoined(await joinWith(key));
    expect(await find('ann')).toMatchObject({
      state: Participant_State.PRESENT,
      role: 'audience',
      rank: 20,
    });
  });
});

test('a join raises a present user with a lower rank', async () => {
  await mint(stage, 'ann', { role: 'broadcast_audience' });
  await joinAs('ann');
  expect(await find('ann')).toMatchObject({ role: 'audience', rank: 20 });
});

test.each(['was kicked', 'has expired'])('a join sets its own role for a name whose host %s', async (how) => {
  await mint(stage, 'ann', { role: 'host' });
  if (how === 'has expired') await lapse(app, stage.tenant);
  else await stage.control.call(kickParticipant, { room: 'lobby', username: 'ann' });
  await joinAs('ann');
  expect(await find('ann')).toMatchObject({ state: Participant_State.PRESENT, role: 'audience', rank: 20 });
  expect(await failureOf(kick('ann', { username: 'ann', deviceThumbprint: deviceOf('ann') }))).toMatchObject({
    reason: 'CAPABILITY_REQUIRED',
  });
});
