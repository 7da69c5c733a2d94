/** Participants on whose behalf a call is made: whose rights count, where a name is on several devices. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { Participant_State } from '@boxoffice/contract/participant';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { beforeEach, expect, test } from 'vitest';
import { ROLE_CAPABILITIES } from '../../../src/access/rights/capabilities.ts';
import { lapse, newThumbprint } from '../../doors/grpc/mint.ts';
import { createCredential, deviceKey, expectJoined, join, thumbprint } from '../../support/devices.ts';
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

/** Somebody types a name at a device. */
async function joinAs(username: string) {
  const key = deviceKey();
  expectJoined(await join(app, credential, { username, room: 'lobby', key }));
  return { username, deviceThumbprint: await thumbprint(key) };
}

test('each device acts by its own token, and never on the user it belongs to', async () => {
  const weak = { username: 'bob', deviceThumbprint: newThumbprint() };
  await mint(stage, 'bob', { role: 'host' });
  await mint(stage, 'bob', { device: weak.deviceThumbprint, capabilities: ['chat.send'], rank: 0 });
  await mint(stage, 'cem');
  expect(await failureOf(kick('cem', weak))).toMatchObject({ reason: 'CAPABILITY_REQUIRED' });
  expect(await failureOf(stage.control.call(listParticipants, { room: 'lobby', actor: weak }))).toMatchObject(
    { reason: 'CAPABILITY_REQUIRED' },
  );

  // The last mint has lowered the user, but not the other device.
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

test('a name that is typed at a device takes nothing from a host who is there, and gives nothing', async () => {
  await mint(stage, 'ann', { role: 'host' });
  await mint(stage, 'mod', { role: 'host', rank: 60 });
  const typed = await joinAs('Ann');
  const capabilities = [...ROLE_CAPABILITIES.host].sort();
  expect(await find('ann')).toMatchObject({ role: 'host', rank: 80, capabilities });

  expect(await failureOf(kick('mod', { ...typed, username: 'ann' }))).toMatchObject({
    reason: 'CAPABILITY_REQUIRED',
  });
  expect(await failureOf(kick('ann', actor('mod')))).toMatchObject({ reason: 'INSUFFICIENT_STANDING' });
  // A renewal tells nobody anything new.
  await mint(stage, 'ann', { role: 'host' });
  await kick('mod', actor('ann'));
});

test('a join keeps nobody a host whose own token has lapsed', async () => {
  await mint(stage, 'ann', { role: 'host' });
  const key = deviceKey();
  const joinAgain = async () =>
    expectJoined(await join(app, credential, { username: 'ann', room: 'lobby', key }));
  await joinAgain();
  expect(await find('ann')).toMatchObject({ role: 'host' });
  await app.service.deps.db.query(`update admissions set expires_at = now() where device = $1`, [
    deviceOf('ann'),
  ]);
  await joinAgain();
  expect(await find('ann')).toMatchObject({
    state: Participant_State.PRESENT,
    role: 'audience',
    rank: 20,
  });
});

test('a join raises whoever is there with less', async () => {
  await mint(stage, 'ann', { role: 'broadcast_audience' });
  await joinAs('ann');
  expect(await find('ann')).toMatchObject({ role: 'audience', rank: 20 });
});

test.each(['was kicked', 'has lapsed'])('a join gives its own to a name whose host %s', async (how) => {
  await mint(stage, 'ann', { role: 'host' });
  if (how === 'has lapsed') await lapse(app, stage.tenant);
  else await stage.control.call(kickParticipant, { room: 'lobby', username: 'ann' });
  await joinAs('ann');
  expect(await find('ann')).toMatchObject({ state: Participant_State.PRESENT, role: 'audience', rank: 20 });
  expect(await failureOf(kick('ann', { username: 'ann', deviceThumbprint: deviceOf('ann') }))).toMatchObject({
    reason: 'CAPABILITY_REQUIRED',
  });
});
