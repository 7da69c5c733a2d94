/** The whole way: browsers join, a relay carries their media, the ledger is charged, and moderators end it. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { describe, expect, test } from 'vitest';
import { bytesOf, type ParticipantPage, picturesOf, SIZE, sees, sumOf, useRelay } from './support.ts';

const meeting = await useRelay();
const { enter, meet, chargedIn, moderate } = meeting;

/** What was under way has arrived. */
async function settled(participant: ParticipantPage): Promise<void> {
  let before = -1;
  const isQuiet = async () => {
    const [last, now] = [before, await bytesOf(participant)];
    before = now;
    return now === last;
  };
  await expect.poll(isQuiet, { interval: 200 }).toBe(true);
}

test('a picture reaches the other browser, and both are charged for what their browsers counted', async () => {
  const { ann, bob } = await meet('counted');
  expect((await picturesOf(bob))[0]).toMatchObject({ width: SIZE[0] });
  await ann.ask('hush');
  await settled(bob);
  const [sent, received] = [await bytesOf(ann), await bytesOf(bob)];
  await Promise.all([ann.ask('close'), bob.ask('close')]);
  await expect.poll(async () => (await chargedIn('counted')).size).toBe(2);
  const charged = await chargedIn('counted');
  const [ofAnn, ofBob] = [charged.get('ann')!, charged.get('bob')!];
  expect(Math.abs(ofAnn.ingress / sent - 1)).toBeLessThan(0.01);
  expect(Math.abs(ofBob.egress / received - 1)).toBeLessThan(0.01);
  expect(ofBob).toMatchObject({ ingress: 0, tier: 'h' });
  expect(ofAnn).toMatchObject({ egress: 0, tier: 'a' });
});

test('three subscribers see one publisher, and each is charged', async () => {
  const { ann, bob } = await meet('three');
  const others = [await enter('eve', 'three'), await enter('dan', 'three')];
  for (const each of others) await each.ask('connect', { relay: meeting.relay.url });
  for (const each of others) await sees(each);
  const least = await Promise.all([bob, ...others].map(bytesOf));
  for (const each of [ann, bob, ...others]) await each.ask('close');
  await expect.poll(async () => (await chargedIn('three')).size).toBe(4);
  const charged = await chargedIn('three');
  for (const [at, name] of ['bob', 'eve', 'dan'].entries())
    expect(charged.get(name)!.egress).toBeGreaterThanOrEqual(least[at]! * 0.99);
});

test('H.264 goes the same way, and its tier is read from the pictures', async () => {
  const [ann, bob] = [await enter('ann', 'h264'), await enter('bob', 'h264')];
  await ann.ask('connect', { relay: meeting.relay.url, size: [1280, 960], codec: 'video/H264' });
  await bob.ask('connect', { relay: meeting.relay.url });
  await expect.poll(async () => (await picturesOf(bob))[0]?.width).toBe(1280);
  expect((await picturesOf(bob))[0]).toMatchObject({ codec: 'video/H264' });
  await bob.ask('close');
  // 1280 x 960 is more than "hd".
  await expect.poll(async () => (await chargedIn('h264')).get('bob')?.tier).toBe('h');
});

test('a screen arrives beside the camera, under its own name', async () => {
  const [ann, bob] = [await enter('ann', 'screens'), await enter('bob', 'screens')];
  await ann.ask('connect', { relay: meeting.relay.url, size: SIZE, screen: [320, 180] });
  await bob.ask('connect', { relay: meeting.relay.url });
  const kinds = async () => (await bob.heard('track')).map((each) => (each as { kind?: string }).kind).sort();
  await expect.poll(kinds).toEqual(['audio', 'screen', 'video']);
  const muting = { room: 'screens', username: 'ann', tracks: [TrackKind.SCREEN] };
  await moderate(ModerationService.method.forceMute, muting);
  await expect.poll(() => ann.heard('muted')).toMatchObject([{ kinds: ['screen'] }]);
  await sees(bob);
});

test('half-way through a token the device shows the relay a new one, and the picture goes on', async () => {
  const { bob } = await meet('renewed');
  const renewal = bob.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await bob.page.clock.fastForward('08:00');
  expect((await renewal).status()).toBe(204);
  await sees(bob);
  expect(await bob.heard('tokenExpired')).toEqual([]);
});

test('a publisher who leaves is gone for the others, and is back when they come back', async () => {
  const { ann, bob } = await meet('left');
  await ann.ask('close');
  await expect.poll(() => bob.heard('left')).toMatchObject([{ username: 'ann' }]);
  await ann.ask('connect', { relay: meeting.relay.url, size: SIZE });
  await sees(bob);
});

describe('a moderator', () => {
  test.each([
    [
      'kicks a user',
      'kicked',
      'kicked',
      ModerationService.method.kickParticipant,
      () => ({ username: 'bob' }),
    ],
    [
      'bans a user',
      'banned',
      'banned',
      ModerationService.method.banSubject,
      () => ({ case: 'username', value: 'bob' }),
    ],
    [
      'bans a device',
      'banned-device',
      'banned',
      ModerationService.method.banSubject,
      (device: string) => ({ case: 'deviceThumbprint', value: device }),
    ],
    [
      'bans an address',
      'banned-address',
      'banned',
      ModerationService.method.banSubject,
      () => ({ case: 'cidr', value: '127.0.0.1/32' }),
    ],
    ['closes the room', 'closed', 'closed', ModerationService.method.closeRoom, () => ({})],
  ] as const)(
    '%s: the page hears why, and the token is refused',
    async (_what, room, code, method, subjectOf) => {
      const { bob } = await meet(room);
      const subject = subjectOf(await bob.page.evaluate('participant.thumbprint'));
      await moderate(method, 'case' in subject ? { room, subject } : { room, ...subject });
      await expect.poll(() => bob.heard('moderated')).toMatchObject([{ code }]);
      expect(await bob.ask('refusal', { relay: meeting.relay.url, token: bob.token })).toMatchObject({
        status: 403,
      });
    },
  );

  test('mutes the sound alone, and the picture goes on', async () => {
    const { ann, bob } = await meet('muted');
    const muting = { room: 'muted', username: 'ann', tracks: [TrackKind.AUDIO] };
    await moderate(ModerationService.method.forceMute, muting);
    await expect.poll(() => ann.heard('muted')).toMatchObject([{ kinds: ['audio'] }]);
    const soundIn = async () =>
      sumOf((await bob.stats()).filter(({ kind }) => kind === 'audio').map(({ bytes }) => bytes));
    const framesIn = async () => (await picturesOf(bob))[0]!.frames;
    /** The sound that arrives in the time of twenty pictures. What was under way when it was muted still arrives. */
    const soundOfTwenty = async () => {
      const [sound, frames] = [await soundIn(), await framesIn()];
      await expect.poll(framesIn).toBeGreaterThan(frames + 20);
      return (await soundIn()) - sound;
    };
    await expect.poll(soundOfTwenty).toBe(0);
  });

  test('ends the room, which is not called moderation', async () => {
    const { ann, bob } = await meet('ended');
    await moderate(RoomService.method.endRoom, { room: 'ended' });
    for (const each of [ann, bob]) await expect.poll(() => each.heard('hostEnded')).toHaveLength(1);
  });
});
